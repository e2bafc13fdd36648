/** Only compiled: what the formats give fits the types of the real packages, and what these give fits the formats. */
import type Anthropic from '@anthropic-ai/sdk'
import type { ToolSet } from 'ai'
import type OpenAI from 'openai'
import * as aiSdk from '../../src/formats/ai-sdk.ts'
import * as anthropic from '../../src/formats/anthropic.ts'
import * as openai from '../../src/formats/openai.ts'
import type { CallOutcome, Session, Tool } from '../../src/index.ts'

export function fits(session: Session, tools: readonly Tool[], outcome: CallOutcome): unknown[] {
  const functions: OpenAI.Responses.Tool[] = [...openai.toTools(tools), ...openai.toNamespaces(tools)]
  const item: OpenAI.Responses.ResponseFunctionToolCall = { type: 'function_call', name: 'a', arguments: '{}', call_id: '1' }
  const input: OpenAI.Responses.ResponseInputItem = openai.toOutput(item, outcome)
  const named: Anthropic.ToolUnion[] = anthropic.toTools(tools)
  const uses = (block: Anthropic.ToolUseBlock): Anthropic.ContentBlockParam => anthropic.toOutput(block, outcome)
  const requests = [
    session.callTool(openai.toRequest(item)),
    (block: Anthropic.ToolUseBlock) => session.callTool(anthropic.toRequest(block)),
  ]
  const set: ToolSet = aiSdk.toTools(session, tools)
  return [functions, input, named, uses, requests, set]
}

export function misuse(session: Session, outcome: CallOutcome): void {
  // @ts-expect-error an output belongs to a call: call_id is missing
  openai.toOutput({ name: 'a', arguments: '{}' }, outcome)
  // @ts-expect-error the arguments of the Responses API are text
  openai.toRequest({ name: 'a', arguments: {} })
  // @ts-expect-error a tool_use block has an input, no arguments
  anthropic.toRequest({ name: 'a', arguments: '{}' })
  // @ts-expect-error the session comes first: it runs the tools
  aiSdk.toTools([], session)
}
