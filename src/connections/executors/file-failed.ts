/** The error about one path of an environment. */
import { TaplineError } from '../../errors.ts'
import { printable } from '../printable.ts'

/** ENVIRONMENT_FILE_FAILED with the path and why. */
export function fileFailed(path: string, why: string): TaplineError {
  return new TaplineError('ENVIRONMENT_FILE_FAILED', `${printable(path, 300)} cannot be read: ${printable(why, 300) || 'unknown reason'}`, {
    data: { path },
  })
}
