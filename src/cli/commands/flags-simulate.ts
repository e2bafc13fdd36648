/** `tapline flags simulate`: how a flag file would split so many users, before anybody gets it. */
import { stat } from 'node:fs/promises'
import { resolve } from 'node:path'
import { TaplineError } from '../../errors.ts'
import type { SimulatedFlag } from '../../flags/simulate.ts'
import { nearest } from '../../nearest.ts'
import { VERSION } from '../../version.ts'
import type { CliContext } from '../context.ts'
import { EXIT_DONE } from '../exit-status.ts'
import { simulationJson, simulationText } from '../render/simulation.ts'

const KEYS = 10_000
const MOST_KEYS = 1_000_000

/** Exit status 0. Throws CONFIG_NOT_FOUND, CONFIG_INVALID for a file that is no flagd definition, FLAG_UNKNOWN, CLI_USAGE. */
export async function run(
  { cwd, interrupt, out }: CliContext,
  file: string,
  flag: string | undefined,
  { keys = KEYS }: { readonly keys?: number },
): Promise<number> {
  if (keys < 1 || keys > MOST_KEYS) throw new TaplineError('CLI_USAGE', `--keys ${keys}: it is a number from 1 to ${MOST_KEYS}`)
  const path = resolve(cwd, file)
  const [{ readFlagdSet }, { flagFileProblem, flagText }, { simulateFlag }] = await Promise.all([
    import('../../flags/flagd-set.ts'),
    import('../../flags/flag-text.ts'),
    import('../../flags/simulate.ts'),
  ])
  const text = await stat(path)
    .then((found) => flagText(path, found))
    .catch((cause: NodeJS.ErrnoException) => {
      const code = cause.code === 'ENOENT' ? 'CONFIG_NOT_FOUND' : 'CONFIG_INVALID'
      const message = `the flag file ${path} cannot be read: ${flagFileProblem(cause)}`
      throw new TaplineError(code, message, { cause, where: path, remedy: 'Name a file with a flagd definition.' })
    })
  const set = await readFlagdSet(text)
  if ('problem' in set) {
    const where = set.line === undefined ? path : `${path}:${set.line}:${set.column}`
    throw new TaplineError('CONFIG_INVALID', `${where}: the flag file cannot be used: ${set.problem}`, { where })
  }
  const chosen = flag === undefined ? set.flags : set.flags.filter(({ name }) => name === flag)
  if (flag !== undefined && chosen.length === 0) {
    const near = nearest(
      flag,
      set.flags.map(({ name }) => name),
    )
    throw new TaplineError(
      'FLAG_UNKNOWN',
      `${path} has no flag ${JSON.stringify(flag)}${near === null ? '' : `: did you mean "${near}"?`}`,
      {
        remedy: set.flags.length === 0 ? 'The file has no flags.' : `It has ${set.flags.map(({ name }) => name).join(', ')}.`,
      },
    )
  }
  const flags: SimulatedFlag[] = []
  for (const one of chosen) flags.push(await simulateFlag(set, one, keys, { version: VERSION }, interrupt.signal))
  await out.result({ json: () => simulationJson(path, keys, flags), text: (paint) => simulationText(keys, flags, paint) })
  return EXIT_DONE
}
