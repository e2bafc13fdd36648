/** `tapline/ai-sdk`: a ToolSet whose tools run through a session. The only file that imports `ai` (5 or newer), an optional peer. */
import { dynamicTool, jsonSchema, type ToolSet } from 'ai'
import type { CallOutcome } from '../hooks/outcome.ts'
import type { ResourceTool, Session, Tool } from '../runtime/types.ts'
import { objectSchema } from './object-schema.ts'
import { resultBlock } from './result-block.ts'

type Output = Awaited<ReturnType<NonNullable<Parameters<typeof dynamicTool>[0]['toModelOutput']>>>
type Part = Extract<Output, { type: 'content' }>['value'][number]

/** One dynamic tool for each. Its output is the outcome of the call; the model is told `outcome.forModel`, and a refusal as `execution-denied`. A tool never throws. */
export function toTools(session: Session, tools: readonly (Tool | ResourceTool)[]): ToolSet {
  return Object.fromEntries(
    tools.map(({ name, description, title, inputSchema }) => [
      name,
      dynamicTool({
        description: description || title,
        inputSchema: jsonSchema(objectSchema(inputSchema) as Parameters<typeof jsonSchema>[0]),
        execute: async (input, { toolCallId, abortSignal }): Promise<CallOutcome> => {
          const options = { callId: toolCallId, ...(abortSignal !== undefined && { signal: abortSignal }) }
          const outcome = await session.callTool({ name, arguments: input }, options)
          // a plain member, so that an output which the host keeps as JSON still says what the model is told
          return { ...outcome, forModel: outcome.forModel }
        },
        toModelOutput: (given) => modelOutput(given),
      }),
    ]),
  )
}

/** Version 5 of `ai` hands in the output itself, later ones an object with it. */
function modelOutput(given: { readonly output: unknown } | CallOutcome): Output {
  const isFirstForm = !('output' in given)
  const outcome = isFirstForm ? given : (given.output as CallOutcome)
  if (outcome?.forModel === undefined) return { type: 'text', value: JSON.stringify(outcome) ?? '' }
  const { text, isError, content } = outcome.forModel
  if (!isFirstForm && (outcome.outcome === 'refused' || outcome.outcome === 'no_approver'))
    return { type: 'execution-denied', reason: text }
  const blocks = content.map(resultBlock)
  // what is wrong is told as such: parts have no place for it
  if (isError || blocks.every(({ kind }) => kind === 'text')) return { type: isError ? 'error-text' : 'text', value: text }
  return {
    type: 'content',
    value: blocks.map((block): Part => {
      if (block.kind === 'text') return { type: 'text', text: block.text }
      const { data, mimeType: mediaType } = block
      if (isFirstForm) return { type: 'media', data, mediaType }
      return block.kind === 'image' ? { type: 'image-data', data, mediaType } : { type: 'file-data', data, mediaType, filename: block.name }
    }),
  }
}
