/** Options of the executors `command` and `ssh`, checked where no configuration file was read. */
import { TaplineError } from '../../../errors.ts'
import type { JsonObject } from '../../../json.ts'

export interface CommandOptions {
  /** program and arguments that come before those of the server */
  readonly prefix: readonly [string, ...string[]]
  /** the far side joins arguments to a line for a shell */
  readonly shell: boolean
  /** variables of this process that the bridge gets beside the usual ones */
  readonly envVars: readonly string[]
}

/** Throws CONFIG_INVALID. */
export function readCommandOptions(options: JsonObject): CommandOptions {
  const { prefix, shell = false, envVars = [] } = options
  if (!isTexts(prefix) || prefix[0] === undefined || prefix[0] === '')
    throw invalid('command', 'prefix must be a list of texts that begins with a program')
  if (typeof shell !== 'boolean') throw invalid('command', 'shell must be true or false')
  if (!isTexts(envVars)) throw invalid('command', 'envVars must be a list of names of variables')
  refuseOthers('command', options, ['prefix', 'shell', 'envVars'])
  return { prefix: [prefix[0], ...prefix.slice(1)], shell, envVars }
}

/** The same as a command over the system's ssh client. Throws CONFIG_INVALID. */
export function readSshOptions(options: JsonObject): CommandOptions {
  const { host, user, port, configFile } = options
  if (typeof host !== 'string' || !isPlainWord(host)) throw invalid('ssh', 'host must be the name of a host, and may not begin with "-"')
  if (user !== undefined && (typeof user !== 'string' || !isPlainWord(user)))
    throw invalid('ssh', 'user must be a name, and may not begin with "-"')
  if (port !== undefined && (typeof port !== 'number' || !Number.isInteger(port) || port < 1 || port > 65_535))
    throw invalid('ssh', 'port must be a whole number from 1 to 65535')
  if (configFile !== undefined && (typeof configFile !== 'string' || configFile === ''))
    throw invalid('ssh', 'configFile must be the path of a file')
  refuseOthers('ssh', options, ['host', 'user', 'port', 'configFile'])
  return {
    prefix: [
      'ssh',
      '-T',
      ...(configFile === undefined ? [] : ['-F', configFile]),
      // never a question: nobody is there to answer it
      '-oBatchMode=yes',
      '-oConnectTimeout=15',
      '-oServerAliveInterval=15',
      '-oServerAliveCountMax=3',
      ...(port === undefined ? [] : ['-p', String(port)]),
      ...(user === undefined ? [] : ['-l', user]),
      '--',
      host,
    ],
    shell: true,
    envVars: [],
  }
}

const isTexts = (value: unknown): value is readonly string[] =>
  Array.isArray(value) && value.every((one) => typeof one === 'string' && !one.includes('\0'))
/** Nothing that a command line could take for an option, and nothing that is more than one word. */
const isPlainWord = (text: string): boolean => /^[^-\s\p{Cc}][^\s\p{Cc}]*$/u.test(text)

function refuseOthers(kind: string, options: JsonObject, known: readonly string[]): void {
  const other = Object.keys(options).find((name) => !known.includes(name))
  if (other !== undefined) throw invalid(kind, `${JSON.stringify(other)} is no option; there is ${known.join(', ')}`)
}

function invalid(kind: string, problem: string): TaplineError {
  return new TaplineError('CONFIG_INVALID', `executor ${kind}: ${problem}`, {
    remedy: 'Correct the executor of the environment; docs/guides/environments.md lists the options.',
  })
}
