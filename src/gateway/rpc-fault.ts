/** Errors of a session as JSON-RPC errors. */
import { methodNotFound, RpcFault } from '../connections/server-request.ts'
import type { ErrorCode } from '../errors.ts'
import { isTaplineError } from '../errors.ts'

const INVALID_PARAMS = -32602
const INTERNAL_ERROR = -32603
const WRONG_REQUEST: ReadonlySet<ErrorCode> = new Set([
  'CALL_INVALID_REQUEST',
  'UNKNOWN_SERVER',
  'UNKNOWN_ARGUMENT',
  'AMBIGUOUS_SERVER',
  'INVALID_CURSOR',
])

export const invalidParams = (message: string): RpcFault => new RpcFault(INVALID_PARAMS, message)
export { methodNotFound }

/** The error of the server where it gave one, else one of ours: its line and its code. */
export function rpcFault(error: unknown): RpcFault {
  if (error instanceof RpcFault) return error
  if (!isTaplineError(error)) return new RpcFault(INTERNAL_ERROR, 'something in tapline failed')
  const given = error.data?.['rpcCode']
  const code = typeof given === 'number' ? given : WRONG_REQUEST.has(error.code) ? INVALID_PARAMS : INTERNAL_ERROR
  const data = error.data?.['rpcData']
  return new RpcFault(code, error.message, data ?? { code: error.code })
}
