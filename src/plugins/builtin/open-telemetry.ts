/** Spans and metrics for calls. */
import type { Context, Histogram, Meter, Span, Tracer } from '@opentelemetry/api'
import { createRequire } from 'node:module'
import type { CallView } from '../../hooks/call-view.ts'
import { definePlugin } from '../../hooks/define-plugin.ts'
import { ALL_METHODS } from '../../hooks/methods.ts'
import type { HookPlugin, HookPorts, Settled } from '../../hooks/plugin.ts'
import { STAGE_FIRST, STAGE_LAST } from '../../hooks/stages.ts'
import type { Json } from '../../json.ts'
import { VERSION } from '../../version.ts'
import { optionSchema } from './option-reader.ts'
import { DURATION_BUCKETS, endAttributes, ownerAttributes, spanName, subject } from './telemetry-attributes.ts'
import { traceContext } from './trace-context.ts'

type Api = typeof import('@opentelemetry/api')

/** Options of `openTelemetry`. */
export interface OpenTelemetryOptions {
  /** default: that of the provider that the process has registered */
  readonly tracer?: Tracer
  /** default: that of the provider that the process has registered */
  readonly meter?: Meter
  /** what goes to the server in `_meta`: `trace` (traceparent, tracestate), `baggage` (these and baggage) or `none`; default `trace` */
  readonly propagate?: 'trace' | 'baggage' | 'none'
  /** true: the arguments of tools become attributes of spans; default false */
  readonly arguments?: boolean
  /** true: the results of tools become attributes of spans; default false */
  readonly results?: boolean
}

interface Settings {
  readonly tracer: Tracer | null
  readonly meter: Meter | null
  readonly propagate: 'trace' | 'baggage' | 'none'
  readonly arguments: boolean
  readonly results: boolean
}

const KEYS = ['tracer', 'meter', 'propagate', 'arguments', 'results'] as const
/** Calls between metadata and dispatch. Those of explanations stay there: they end without a word. */
const MOST_ANNOUNCED = 1000

/** A span for every call, its duration as a metric, and trace context for the server. A mistake in the options is HOOK_BAD_PLUGIN. */
export const openTelemetry: (options?: OpenTelemetryOptions) => HookPlugin = definePlugin({
  name: 'open-telemetry',
  options: optionSchema<OpenTelemetryOptions, Settings>(KEYS, (options) => ({
    tracer: options.object('tracer', 'startSpan') as Tracer | null,
    meter: options.object('meter', 'createHistogram') as Meter | null,
    propagate: options.choice('propagate', 'trace', ['trace', 'baggage', 'none']),
    arguments: options.truth('arguments', false),
    results: options.truth('results', false),
  })),
  apply({ hooks, session }, settings) {
    const telemetry = new Telemetry(settings, session)
    // telemetry only helps: where it fails, the call goes on without it
    const everything = { methods: ALL_METHODS, onFailure: 'continue' } as const
    hooks.attachMetadata.tap({ ...everything, name: 'propagate', stage: STAGE_LAST }, (call) => telemetry.start(call))
    hooks.dispatch.tapPromise({ ...everything, name: 'span', stage: STAGE_FIRST }, (call, next) => telemetry.during(call, next))
    hooks.settled.tap('end', (event) => telemetry.end(event))
    return { [Symbol.dispose]: () => telemetry.clear() }
  },
})

interface Started {
  readonly span: Span
  readonly context: Context
  /** s from the first to the last write, once it was sent */
  seconds: number | null
}

/** The spans of one session. */
class Telemetry {
  readonly #api: Api
  readonly #settings: Settings
  readonly #session: HookPorts['session']
  readonly #tracer: Tracer
  readonly #operation: Histogram
  readonly #call: Histogram
  readonly #announced = new Map<string, Started>()
  readonly #running = new Map<string, Started>()

  constructor(settings: Settings, session: HookPorts['session']) {
    // on first use, and at once: taps that wait for it would cost every call a turn
    this.#api = createRequire(import.meta.url)('@opentelemetry/api') as Api
    this.#settings = settings
    this.#session = session
    this.#tracer = settings.tracer ?? this.#api.trace.getTracer('tapline', VERSION)
    const meter = settings.meter ?? this.#api.metrics.getMeter('tapline', VERSION)
    const inSeconds = { unit: 's', advice: { explicitBucketBoundaries: [...DURATION_BUCKETS] } }
    this.#operation = meter.createHistogram('mcp.client.operation.duration', {
      ...inSeconds,
      description: 'Time from the request to its answer, further attempts included.',
    })
    this.#call = meter.createHistogram('tapline.call.duration', {
      ...inSeconds,
      description: 'Time of a whole call, questions to people included, whether it was sent or not.',
    })
  }

  /** Starts the span, whose id goes to the server. */
  start(call: CallView): Record<string, string> | undefined {
    const { propagate } = this.#settings
    const started = this.#begin(call)
    const { context } = started
    this.#announced.set(call.id, started)
    const [oldest] = this.#announced.keys()
    if (this.#announced.size > MOST_ANNOUNCED && oldest !== undefined) this.#announced.delete(oldest)
    if (propagate === 'none') return undefined
    return traceContext(this.#api, context, propagate === 'baggage')
  }

  /** Whatever is traced below (HTTP, say) is part of the span. */
  async during<T>(call: CallView, next: () => Promise<T>): Promise<T> {
    const started = this.#announced.get(call.id) ?? this.#begin(call)
    this.#announced.delete(call.id)
    this.#running.set(call.id, started)
    const began = performance.now()
    try {
      return await this.#api.context.with(started.context, next)
    } finally {
      started.seconds = (performance.now() - began) / 1000
    }
  }

  end({ request, call, owner, outcome }: Settled): void {
    const about = subject(request.method, call, outcome.tool)
    const ended = endAttributes(outcome)
    const started = call === null ? undefined : this.#take(call.id)
    this.#call.record(outcome.durationMs / 1000, { ...about, ...ended })
    if (started?.seconds !== undefined && started.seconds !== null && outcome.sent !== 'no')
      this.#operation.record(started.seconds, { ...about, ...ended }, started.context)
    // refused, or never understood: a span of what there was
    const span =
      started?.span ??
      this.#tracer.startSpan(spanName(about), {
        kind: this.#api.SpanKind.CLIENT,
        attributes: call === null ? about : this.#attributes(call),
        startTime: Date.now() - outcome.durationMs,
      })
    if (!span.isRecording()) return span.end()
    span.setAttributes({
      ...ended,
      'tapline.sent': outcome.sent,
      ...(owner !== null && ownerAttributes(owner)),
      // the id that the host gave, which taps do not see
      ...(request.method === 'tools/call' && { 'gen_ai.tool.call.id': outcome.callId }),
    })
    if (this.#settings.results && request.method === 'tools/call' && outcome.outcome === 'completed')
      span.setAttribute('gen_ai.tool.call.result', this.#text(outcome.result as Json))
    if (ended['error.type'] !== undefined)
      span.setStatus({ code: this.#api.SpanStatusCode.ERROR, ...('message' in outcome && { message: outcome.message }) })
    span.end()
  }

  #take(id: string): Started | undefined {
    const started = this.#running.get(id) ?? this.#announced.get(id)
    this.#running.delete(id)
    this.#announced.delete(id)
    return started
  }

  clear(): void {
    this.#announced.clear()
    this.#running.clear()
  }

  #begin(call: CallView): Started {
    const parent = this.#api.context.active()
    const attributes = this.#attributes(call)
    const span = this.#tracer.startSpan(spanName(attributes), { kind: this.#api.SpanKind.CLIENT, attributes }, parent)
    return { span, context: this.#api.trace.setSpan(parent, span), seconds: null }
  }

  #attributes(call: CallView): ReturnType<typeof subject> {
    return {
      ...subject(call.method, call, null),
      ...ownerAttributes(call.owner),
      'tapline.session.id': call.sessionId,
      ...(call.method === 'resources/read' && { 'mcp.resource.uri': this.#session.redact(call.uri) }),
      ...(call.method === 'tools/call' && this.#settings.arguments && { 'gen_ai.tool.call.arguments': this.#text(call.arguments) }),
    }
  }

  #text(value: Json): string {
    return JSON.stringify(this.#session.redact(value))
  }
}
