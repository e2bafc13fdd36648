/** The few lines of POSIX `sh` that start a server on the other side of a bridge, and the one line of input that tells them what to start. */
import { TaplineError } from '../../../errors.ts'
import type { LaunchRequest } from '../../executor.ts'

/** The first line that the far side prints: from here on stdout belongs to the server. */
export const READY = 'tapline: ready'

// No quotation mark ', no backslash and no line end: so it can stand between quotation marks for whatever login shell there is.
// stdin goes through `cat`, because only its end says that the input is over: the server reads the rest. Events (c: pid of cat, s: the
// server's group, e: end of input, x: exit status) go through descriptor 6 to the last part, which ends the group and then itself.
const SCRIPT = [
  'IFS= read -r tl_h || tl_h=;',
  '[ "$tl_h" ] || { echo "tapline: the prefix carries no stdin" >&2; exit 125; };',
  `echo "${READY}";`,
  'tl_s=$(command -v setsid);',
  'exec 4<&0 </dev/null 5>&1;',
  '{ { cat <&4 4<&- 5>&- 6>&- & tl_c=$!; exec >/dev/null 2>&1; echo "c $tl_c" >&6; wait $tl_c; echo "e 0" >&6; }',
  '| { ( exec 4<&- 7<&0 </dev/null; eval "$tl_h";',
  'if [ "$tl_s" ]; then "$tl_s" "$@" <&7 7<&- 6>&- & tl_p=$!; tl_g=-$tl_p;',
  'else set -m 2>/dev/null; "$@" <&7 7<&- 6>&- & tl_p=$!; case $- in *m*) tl_g=-$tl_p;; *) tl_g=$tl_p;; esac; fi;',
  'echo "s $tl_g" >&6; exec 7<&- ; wait $tl_p ); echo "x $?" >&6; }; } 6>&1 >&5 5>&-',
  '| { exec 4<&- 5>&- ; tl_c= tl_g= tl_e= tl_k= tl_x=;',
  'while read -r tl_w tl_v; do case $tl_w in c) tl_c=$tl_v;; s) tl_g=$tl_v;; e) tl_e=1;; x) tl_x=$tl_v;; esac;',
  'if [ "$tl_x" ] && [ "$tl_c" ]; then break; fi;',
  'if [ "$tl_e" ] && [ "$tl_g" ] && [ -z "$tl_k" ]; then',
  '( sleep 2 & trap "kill $!; exit" TERM; wait $!; kill -TERM $tl_g; sleep 2 & trap "kill $!; exit" TERM; wait $!; kill -KILL $tl_g )',
  '</dev/null >/dev/null 2>&1 & tl_k=$!; fi; done;',
  'kill $tl_k $tl_c 2>/dev/null;',
  'if [ "$tl_g" ] && kill -TERM $tl_g 2>/dev/null; then sleep 1; kill -KILL $tl_g 2>/dev/null; fi;',
  'exit ${tl_x:-125}; }',
].join(' ')

/** The arguments after the prefix: always the same, whatever is started. With `quoted` each is quoted for a shell that joins them. */
export function bootstrapArgs(quoted: boolean): readonly string[] {
  const args = ['sh', '-c', SCRIPT, 'tapline']
  return quoted ? args.map((arg) => (/^[a-z-]+$/.test(arg) ? arg : `'${arg}'`)) : args
}

/** The line that tells the far side folder, variables, program and arguments. Throws SERVER_START_FAILED for names that no shell can set. */
export function launchLine({ command, args, cwd, env, label }: LaunchRequest): string {
  if ([command, cwd, ...args, ...Object.values(env)].some((text) => text.includes('\0')))
    throw new TaplineError(
      'SERVER_START_FAILED',
      `${label} was not started: a NUL character cannot be in a command, an argument or a value`,
      {
        data: { stage: 'spawn' },
        remedy: 'Correct the definition of the server, or the variable that the text comes from.',
      },
    )
  const odd = Object.keys(env).filter((name) => !/^(?!tl_)[A-Za-z_][A-Za-z0-9_]*$/.test(name))
  if (odd.length > 0)
    throw new TaplineError(
      'SERVER_START_FAILED',
      `${label} was not started: the variable ${JSON.stringify(odd[0])} cannot be set by a shell`,
      {
        data: { stage: 'spawn' },
        remedy: 'Use names of letters, digits and underscores for servers beyond this machine, and none that begins with tl_.',
      },
    )
  const fail = (text: string, code: number): string => `{ echo "tapline: "${text} >&2; exit ${code}; }`
  return [
    // line ends inside of values: the line itself ends at the first one
    'tl_n=$(printf "\\012_"); tl_n=${tl_n%_}',
    `cd ${quote(cwd)} || ${fail(`${quote(cwd)}" cannot be used as cwd"`, 126)}`,
    ...Object.entries(env).map(([name, value]) => `export ${name}=${quote(value)}`),
    `command -v ${quote(command)} >/dev/null 2>&1 || ${fail(`"command "${quote(command)}" was not found"`, 127)}`,
    `set -- ${[command, ...args].map(quote).join(' ')}\n`,
  ].join('; ')
}

/** Any text without NUL as one word of a shell line. */
function quote(text: string): string {
  return `'${text.replaceAll("'", `'"'"'`).replaceAll('\n', `'"$tl_n"'`)}'`
}
