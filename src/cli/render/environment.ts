/** Environments in JSON and as a table. */
import type { EnvironmentCheck } from '../../runtime/check-environment.ts'
import type { PluginPackage } from '../../runtime/package-types.ts'
import { displayKey } from '../../servers/key.ts'
import type { TaplineError } from '../../errors.ts'
import type { Paint } from '../output.ts'
import { visibleLine } from './escape.ts'
import { table } from './table.ts'

/** An environment of the configuration, and what a look at it found. */
export interface EnvironmentRow {
  readonly id: string
  readonly executor: string
  readonly cwd: string
  /** `file:line:column`, `host` or `default` */
  readonly where: string
  readonly permissions: string | null
  readonly selected: boolean
  /** display form of those that execute there */
  readonly servers: readonly string[]
  readonly check?: EnvironmentCheck
  /** what a look at it found installed there */
  readonly packages?: readonly PluginPackage[]
  readonly error?: TaplineError
}

/** The document of `tapline environments list` and `check`. */
export function environmentsJson(rows: readonly EnvironmentRow[]): Readonly<Record<string, unknown>> {
  return {
    environments: rows.map(({ check, error, packages, ...row }) => ({
      ...row,
      ...(packages && {
        packages: packages.map(({ id, version, installationId, root, servers }) => ({
          id,
          version,
          installationId,
          root,
          servers: servers.map(({ owner }) => displayKey(owner)),
        })),
      }),
      ...(check && { state: 'ready', ...check }),
      ...(error && { state: 'lost', error: { code: error.code, message: error.message, remedy: error.remedy } }),
    })),
  }
}

/** A line for each environment; those that cannot be reached have the reason below. */
export function environmentsText(rows: readonly EnvironmentRow[], paint: Paint): string {
  const lines = table(
    rows.map(({ id, executor, cwd, selected, servers, check, error, packages = [] }) => [
      { text: visibleLine(id), paint: paint.bold },
      { text: visibleLine(executor) },
      { text: visibleLine(cwd), paint: paint.dim },
      ...(check ? [{ text: found(check), paint: paint.green }] : error ? [{ text: 'cannot be reached', paint: paint.red }] : []),
      {
        text: `${counted(servers.length, 'server')}${packages.length === 0 ? '' : `, ${counted(packages.length, 'plugin package')}`}${selected ? '' : ', not selected'}`,
        paint: paint.dim,
      },
    ]),
  )
  const reasons = rows.flatMap(({ id, error }) =>
    error
      ? [
          `${paint.red('failed')} ${visibleLine(id)}: ${visibleLine(error.message)} ${paint.dim(`(${error.code})`)}`,
          `  ${paint.dim(visibleLine(error.remedy))}`,
        ]
      : [],
  )
  return [lines, ...reasons].join('\n')
}

const counted = (count: number, what: string): string => `${count} ${what}${count === 1 ? '' : 's'}`

function found({ platform, version, connectMs, latencyMs }: EnvironmentCheck): string {
  const what = [platform, version]
    .filter((part) => part !== null)
    .map((part) => visibleLine(part))
    .join(' ')
  return `${what || 'ready'}, connected in ${Math.round(connectMs)} ms, answers in ${latencyMs < 10 ? latencyMs.toFixed(1) : Math.round(latencyMs)} ms`
}
