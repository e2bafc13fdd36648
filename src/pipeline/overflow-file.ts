/** Writes the whole of a result that is too large to hand out. */
import { resolve } from 'node:path'
import { messageOf } from '../errors.ts'
import type { JsonObject } from '../json.ts'
import type { Diagnostic } from '../servers/diagnostic.ts'
import { writePrivateFile } from '../storage/private-file.ts'

/** The absolute path of the file (0600, in place of what was there); null where it cannot be written, which is reported: the tool has run all the same. */
export async function writeOverflow(path: string, result: JsonObject, report: (diagnostic: Diagnostic) => void): Promise<string | null> {
  const file = resolve(path)
  try {
    await writePrivateFile(file, `${JSON.stringify(result)}\n`)
    return file
  } catch (error) {
    report({
      code: 'overflow_not_written',
      severity: 'warning',
      message: `the whole result could not be written to ${file}: ${messageOf(error)}`,
    })
    return null
  }
}
