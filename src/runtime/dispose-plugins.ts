/** Ends what the plugins of a session keep. */
import { messageOf } from '../errors.ts'
import { dispose } from '../hooks/registered-taps.ts'
import type { Diagnostic } from '../servers/diagnostic.ts'

/** ms that a plugin has to dispose of itself. */
const DISPOSE_MS = 5000

/** Disposes of each in turn; what fails or does not end is a diagnostic. Never rejects. */
export async function disposePlugins(
  disposables: readonly (Disposable | AsyncDisposable)[],
  report: (diagnostic: Diagnostic) => void,
): Promise<void> {
  for (const disposable of disposables) {
    await withinTime(dispose(disposable)).catch((error: unknown) =>
      report({ code: 'dispose_failed', severity: 'warning', message: `a plugin could not be disposed of: ${messageOf(error)}` }),
    )
  }
}

/** A plugin that never ends must not keep its session open. */
async function withinTime(work: Promise<void>): Promise<void> {
  let timer: NodeJS.Timeout | undefined
  const limit = new Promise<never>((_, reject) => {
    timer = setTimeout(() => reject(new Error(`it did not end within ${DISPOSE_MS} ms`)), DISPOSE_MS)
  })
  try {
    await Promise.race([work, limit])
  } finally {
    clearTimeout(timer)
  }
}
