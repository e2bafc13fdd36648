/** What a server of this machine gets of our environment: a short list, everything else only where the configuration names it. */

const POSIX: readonly string[] = ['HOME', 'LOGNAME', 'PATH', 'SHELL', 'USER', 'LANG', 'TERM', 'TMPDIR', 'TZ']
const WINDOWS: readonly string[] = [
  'APPDATA',
  'COMSPEC',
  'HOMEDRIVE',
  'HOMEPATH',
  'LOCALAPPDATA',
  'NUMBER_OF_PROCESSORS',
  'OS',
  'PATH',
  'PATHEXT',
  'PROCESSOR_ARCHITECTURE',
  'PROGRAMDATA',
  'PROGRAMFILES',
  'SYSTEMDRIVE',
  'SYSTEMROOT',
  'TEMP',
  'TMP',
  'USERNAME',
  'USERPROFILE',
  'WINDIR',
  'LANG',
  'TZ',
]

/** The allow-list taken from `host`, then `named` over it. Names are case-insensitive on Windows. */
export function localEnv(
  named: Readonly<Record<string, string>>,
  host: NodeJS.ProcessEnv = process.env,
  platform: string = process.platform,
): Record<string, string> {
  const windows = platform === 'win32'
  const allowed = new Set(windows ? WINDOWS : POSIX)
  const fold = (name: string): string => (windows ? name.toUpperCase() : name)
  const env: Record<string, string> = Object.create(null) as Record<string, string>
  const given = new Set(Object.keys(named).map(fold))
  for (const [name, value] of Object.entries(host)) {
    const folded = fold(name)
    if (value !== undefined && !given.has(folded) && (allowed.has(folded) || folded.startsWith('LC_'))) env[name] = value
  }
  for (const [name, value] of Object.entries(named)) env[name] = value
  return env
}
