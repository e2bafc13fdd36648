/** Requests without a tool: what they must say, and how they are written. */
import { TaplineError } from '../errors.ts'
import type { CallRun } from '../hooks/call-run.ts'
import type { Json, JsonObject } from '../json.ts'
import { isJsonObject } from '../json.ts'

/** Throws CALL_INVALID_REQUEST for a request that lacks a part; a tap may have rewritten it. */
export function assertReadable(run: CallRun): void {
  const problem = problemOf(run)
  if (problem !== null) throw new TaplineError('CALL_INVALID_REQUEST', problem)
}

function problemOf({ method, sealed: { target }, arguments: { value } }: CallRun): string | null {
  switch (method) {
    case 'resources/read':
      return isText(value['uri']) ? null : 'a resource is read by its uri'
    case 'prompts/get':
      if (!isText(target)) return 'a prompt is asked for by its name'
      return areTexts(value) ? null : 'the arguments of a prompt are texts'
    case 'completion/complete': {
      const { ref, argument, context } = value
      if (!isJsonObject(ref) || !(isText(ref['name']) || isText(ref['uri'])))
        return 'a completion needs a ref: { prompt } with a name, or { uriTemplate }'
      if (!isJsonObject(argument) || !isText(argument['name']) || typeof argument['value'] !== 'string')
        return 'a completion needs an argument: { name, value }'
      if (context === undefined || (isJsonObject(context) && areTexts(context['arguments'] ?? {}))) return null
      return 'the context of a completion is an object, and its arguments are texts'
    }
    default:
      return null
  }
}

/** The params of a request without a tool, but for `_meta`. */
export function plainParams({ method, sealed: { target }, arguments: { value } }: CallRun): Record<string, unknown> {
  switch (method) {
    case 'resources/read':
      return { uri: value['uri'] }
    case 'prompts/get':
      return { name: target, arguments: value }
    case 'completion/complete': {
      const { ref, argument, context } = value
      return { ref, argument, ...(context !== undefined && { context }) }
    }
    default:
      return typeof value['cursor'] === 'string' ? { cursor: value['cursor'] } : {}
  }
}

const isText = (value: unknown): value is string => typeof value === 'string' && value !== ''
const areTexts = (value: Json): value is JsonObject =>
  isJsonObject(value) && Object.values(value).every((one) => one === undefined || typeof one === 'string')
