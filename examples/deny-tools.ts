import { deny, STAGE_GUARD, type HookPlugin, type HookPorts } from 'tapline/plugin'

/** Refuses tools by the names that their servers give them. */
export default class DenyToolsPlugin implements HookPlugin {
  readonly name = 'deny-tools'
  readonly #tools: ReadonlySet<string>

  constructor(options: { readonly tools: readonly string[] }) {
    this.#tools = new Set(options.tools)
  }

  apply({ hooks }: HookPorts): void {
    hooks.approve.tap({ name: 'deny', stage: STAGE_GUARD, methods: ['tools/call'] }, (call) =>
      this.#tools.has(call.tool) ? deny(`${call.tool} is off on ${String(call.owner)}`) : undefined,
    )
  }
}
