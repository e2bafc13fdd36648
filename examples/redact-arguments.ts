import { definePlugin, type HookPluginFactory, type Json } from 'tapline/plugin'
import { z } from 'zod'

interface Options {
  readonly pattern: string
}

/** Replaces what fits a pattern in every text of the arguments. */
const redactArguments: HookPluginFactory<Options> = definePlugin({
  name: 'redact-arguments',
  options: z.object({ pattern: z.string().min(1) }),
  apply({ hooks }, { pattern }) {
    const expression = new RegExp(pattern, 'g')
    const redact = (value: Json): Json => {
      if (typeof value === 'string') return value.replace(expression, '[redacted]')
      if (typeof value !== 'object' || value === null) return value
      if (Array.isArray(value)) return value.map(redact)
      return Object.fromEntries(Object.entries(value).map(([name, member]) => [name, redact(member)]))
    }
    hooks.resolve.tap('redact', (call) => ({ arguments: redact(call.arguments) as typeof call.arguments }))
  },
})
export default redactArguments
