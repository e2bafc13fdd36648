/** `tapline hooks check`: whether a hook plugin keeps the rules, in a process of its own. */
import { existsSync } from 'node:fs'
import path from 'node:path'
import { TaplineError } from '../../errors.ts'
import type { JsonObject } from '../../json.ts'
import { isJsonObject } from '../../json.ts'
import type { HookModuleSpec } from '../../plugins/loader.ts'
import type { FindingKind } from '../../testing/check/finding.ts'
import { FINDING_REMEDIES } from '../../testing/check/finding.ts'
import type { CliContext } from '../context.ts'
import { EXIT_DONE, EXIT_FINDINGS } from '../exit-status.ts'
import { runCheckChild } from '../hooks/run-check-child.ts'
import { visibleLine } from '../render/escape.ts'
import { hookCheckText } from '../render/hook-check.ts'

/** Options of `hooks check`. */
export interface HooksCheckOptions {
  readonly options?: string
  readonly seed?: number
  readonly calls?: number
  readonly budget?: number
  readonly allow?: readonly string[]
  /** seconds without a sign of life */
  readonly limit?: number
}

const DEFAULT_LIMIT_SEC = 10

/** Exit status 0 without errors, 1 with some. Throws HOOK_BAD_PLUGIN for what is no plugin, CLI_USAGE for options that make no sense. */
export async function run(context: CliContext, target: string, given: HooksCheckOptions): Promise<number> {
  const { out, progress, interrupt, cwd } = context
  const { seed, calls, budget, limit = DEFAULT_LIMIT_SEC } = given
  const module = { ...moduleOf(target, cwd), options: optionsOf(given.options), folder: cwd, where: 'command line' }
  const options = {
    ...(seed !== undefined && { seed }),
    ...(calls !== undefined && { calls }),
    ...(budget !== undefined && { budgetMs: budget }),
    allow: (given.allow ?? []).map(kindOf),
  }
  const report = await progress.during(`checking ${target}`, () =>
    runCheckChild(
      { module, options },
      { silentMs: limit * 1000, signal: interrupt.signal, cwd, onLine: (line) => out.note(visibleLine(line)) },
    ),
  )
  await out.result({ json: () => report, text: (paint) => hookCheckText(report, paint) })
  return report.ok ? EXIT_DONE : EXIT_FINDINGS
}

/** A file where there is one, else a package. */
function moduleOf(target: string, cwd: string): Pick<HookModuleSpec, 'module' | 'kind'> {
  const file = path.resolve(cwd, target)
  // no package ends like a module
  const isFile = /^\.{0,2}[/\\]|\.[cm]?[jt]s$/.test(target) || path.isAbsolute(target) || existsSync(file)
  return isFile ? { module: file, kind: 'path' } : { module: target, kind: 'package' }
}

function optionsOf(text: string | undefined): JsonObject | null {
  if (text === undefined) return null
  let value: unknown
  try {
    value = JSON.parse(text)
  } catch (cause) {
    throw new TaplineError('CLI_USAGE', '--options is no JSON', { cause, remedy: 'Give an object, as in --options \'{"tools":["x"]}\'.' })
  }
  if (isJsonObject(value)) return value
  throw new TaplineError('CLI_USAGE', '--options is no JSON object', { remedy: 'Give an object, as in --options \'{"tools":["x"]}\'.' })
}

function kindOf(text: string): FindingKind {
  const kinds = Object.keys(FINDING_REMEDIES) as FindingKind[]
  const kind = kinds.find((one) => one === text)
  if (kind === undefined)
    throw new TaplineError('CLI_USAGE', `${JSON.stringify(text)} is no kind of finding`, { remedy: `The kinds are ${kinds.join(', ')}.` })
  return kind
}
