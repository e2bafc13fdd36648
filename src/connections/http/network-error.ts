/** What went wrong below HTTP, from the chain of causes that fetch and undici give: one line, and whether anything can have been sent. */
import { printable } from '../printable.ts'

/** One line of cause. */
export interface NetworkProblem {
  readonly text: string
  /** code of the system or of the library, where there is one */
  readonly code: string | null
  /** `no`: no connection came about */
  readonly sent: 'no' | 'unknown'
}

const REFUSED: Readonly<Record<string, string>> = {
  ECONNREFUSED: 'the connection was refused: nothing listens there',
  ENOTFOUND: 'its host name is not known',
  EAI_AGAIN: 'its host name cannot be looked up at the moment',
  EHOSTUNREACH: 'there is no route to its host',
  ENETUNREACH: 'there is no route to its network',
  EACCES: 'this machine does not allow the connection',
  EADDRNOTAVAIL: 'no connection can be made from this machine',
  UND_ERR_CONNECT_TIMEOUT: 'no connection came about within 10 s',
}
const BROKEN: Readonly<Record<string, string>> = {
  ECONNRESET: 'the connection was reset',
  EPIPE: 'the connection was closed',
  ETIMEDOUT: 'the connection timed out',
  UND_ERR_SOCKET: 'the connection was closed',
  UND_ERR_BODY_TIMEOUT: 'the connection timed out',
  UND_ERR_HEADERS_OVERFLOW: 'the headers of the answer are too long',
}
const CERTIFICATE = /^(?:CERT_|UNABLE_TO_|DEPTH_ZERO_|SELF_SIGNED_|HOSTNAME_MISMATCH|INVALID_CA|PATH_LENGTH_|INVALID_PURPOSE|ERR_TLS_CERT)/

/** The line for whatever a request rejected with; never the text of a header or body. */
export function networkProblem(error: unknown): NetworkProblem {
  const chain = causes(error)
  for (const one of chain) {
    const { code, syscall, message } = one as NodeJS.ErrnoException
    if ((one as Error).name === 'HTTPParserError') return { text: 'its answer is no HTTP', code: null, sent: 'unknown' }
    if (typeof code !== 'string') continue
    if (code === 'TAPLINE_REFUSED_ADDRESS') return { text: `that is not allowed: ${message}`, code, sent: 'no' }
    if (REFUSED[code] !== undefined) return { text: `${REFUSED[code]} (${code})`, code, sent: 'no' }
    if (code === 'ETIMEDOUT' && syscall === 'connect') return { text: `no connection came about (${code})`, code, sent: 'no' }
    if (CERTIFICATE.test(code))
      return { text: `its TLS certificate is not accepted: ${printable(message, 200)} (${code})`, code, sent: 'no' }
    if (code.startsWith('ERR_SSL_') || code === 'EPROTO') return { text: `TLS failed: is it an https server? (${code})`, code, sent: 'no' }
    if (BROKEN[code] !== undefined) return { text: `${BROKEN[code]} (${code})`, code, sent: 'unknown' }
    if (code.startsWith('HPE_')) return { text: `its answer is no HTTP (${code})`, code, sent: 'unknown' }
  }
  const last = chain.at(-1)
  const code = (last as { code?: unknown } | undefined)?.code
  return {
    text: printable(last instanceof Error ? last.message : String(error), 200),
    code: typeof code === 'string' ? code : null,
    sent: 'unknown',
  }
}

/** The error and what caused it, outermost first; of several tries the first one. */
function causes(error: unknown): unknown[] {
  const chain: unknown[] = []
  for (let one = error; one !== undefined && one !== null && chain.length < 10; ) {
    chain.push(one)
    const { errors, cause } = one as { errors?: unknown; cause?: unknown }
    one = Array.isArray(errors) ? errors[0] : cause
  }
  return chain
}
