/** Where lines for the host's log go. */

/** Takes lines for the host's log; secrets are redacted before. */
export interface Logger {
  debug(data: object, message: string): void
  info(data: object, message: string): void
  warn(data: object, message: string): void
  error(data: object, message: string): void
}
