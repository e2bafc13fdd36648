/** Reads what a tool answered: every field is kept, and a plain answer has to fit the output schema of its tool. */
import { TaplineError } from '../errors.ts'
import type { JsonObject } from '../json.ts'
import { isJsonObject } from '../json.ts'
import type { PipelineRun } from './pipeline-run.ts'
import type { CompiledSchema } from './tool-schema.ts'

/** The result, where it is one. Throws or rejects with SERVER_FAILED (`data.rawResult`); a tool's own `isError` is never checked. */
export function readToolResult(run: PipelineRun, result: JsonObject): JsonObject | Promise<JsonObject> {
  const { owner, target, tool } = run.sealed
  if (!isJsonObject(result)) throw new TaplineError('SERVER_FAILED', `${owner} answered ${target} with something that is no result`)
  const { content } = result
  if (content !== undefined && !Array.isArray(content)) {
    throw new TaplineError('SERVER_FAILED', `${owner} answered ${target} with content that is no list`, { data: { rawResult: result } })
  }
  const whole = content === undefined ? { ...result, content: [] } : result
  if (tool?.outputSchema == null || result['isError'] === true) return whole
  const { schemas } = run.host
  const schema = schemas.get(tool, 'output')
  return schema === null ? schemas.prepare(tool, 'output').then((compiled) => fitting(run, whole, compiled)) : fitting(run, whole, schema)
}

function fitting(run: PipelineRun, result: JsonObject, schema: CompiledSchema): JsonObject {
  const { owner, target, entry } = run.sealed
  const structured = result['structuredContent']
  const problem = structured === undefined ? 'structuredContent is missing' : schema.check(structured)
  if (schema.disabled !== null) {
    run.host.reportOnce(`output schema ${owner} ${target}`, {
      code: 'schema_unusable',
      severity: 'warning',
      message: `results of ${target} (${owner}) are not checked: ${schema.disabled}`,
      owner,
    })
    return result
  }
  if (problem === null) return result
  const message = `the answer of ${target} (${owner}) does not fit its output schema: ${problem}`
  if (entry.registration.policy.outputSchema === 'enforce') {
    throw new TaplineError('SERVER_FAILED', message, {
      remedy: 'Have the server corrected, or set outputSchema: "report" on it.',
      data: { rawResult: result },
    })
  }
  run.host.reportOnce(`output ${owner} ${target}`, { code: 'output_schema', severity: 'warning', message, owner })
  return result
}
