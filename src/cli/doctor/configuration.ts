/** What the files say: found, trusted, without mistakes; flags and hook modules included. Starts nothing. */
import type { LoadedConfig } from '../../config/config.ts'
import { isTaplineError } from '../../errors.ts'
import type { CliContext } from '../context.ts'
import { readFlags } from '../flag-sources.ts'
import { configurationFiles, readConfiguration } from '../open.ts'
import { mistakesOf } from '../render/failure.ts'
import type { Check } from './check.ts'
import { failed, found } from './check.ts'

/** The checks, and the configuration where it could be read. */
export async function checkConfiguration(context: CliContext): Promise<{ checks: readonly Check[]; loaded: LoadedConfig | null }> {
  const checks: Check[] = []
  try {
    const files = await configurationFiles(context)
    const count = files.filter(({ kind }) => kind === 'found').length
    if (count > 0) checks.push({ check: 'trust', status: 'ok', message: `${count} found file${count === 1 ? ' is' : 's are'} trusted` })
  } catch (error) {
    const isTrust = isTaplineError(error) && error.code === 'CONFIG_UNTRUSTED'
    return { checks: [failed(isTrust ? 'trust' : 'configuration', error)], loaded: null }
  }
  try {
    const { loaded } = await readConfiguration(context)
    for (const { path } of loaded.files) checks.push({ check: 'configuration', status: 'ok', message: path })
    const { furtherFindings } = await import('../findings.ts')
    // whether a server starts is seen by starting it, and a launcher is probed
    const more = (await furtherFindings(context, loaded)).filter(
      ({ code }) => code !== 'server_will_not_start' && code !== 'launcher_not_offered',
    )
    for (const one of [...loaded.diagnostics, ...more]) if (one.severity !== 'info') checks.push(found('configuration', one))
    checks.push(await checkFlags(context))
    return { checks, loaded }
  } catch (error) {
    const mistakes = isTaplineError(error) ? mistakesOf(error) : []
    const each = mistakes.map(({ where, message }) => found('configuration', { code: 'CONFIG_INVALID', severity: 'error', message, where }))
    return { checks: [...checks, ...(each.length > 0 ? each : [failed('configuration', error)])], loaded: null }
  }
}

async function checkFlags(context: CliContext): Promise<Check> {
  try {
    const { flags } = await readFlags(context)
    return {
      check: 'flags',
      status: 'ok',
      message: flags.map(({ details: { flagKey, value, source } }) => `${flagKey} = ${value} (${source})`).join(', '),
    }
  } catch (error) {
    return failed('flags', error)
  }
}
