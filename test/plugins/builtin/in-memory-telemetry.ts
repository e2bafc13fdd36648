// Providers that keep what they are given, written against the interfaces of the API: no SDK is installed.
import { AsyncLocalStorage } from 'node:async_hooks'
import { ROOT_CONTEXT, trace } from '@opentelemetry/api'
import type { Attributes, Context, ContextManager, Meter, Span, SpanOptions, SpanStatus, Tracer } from '@opentelemetry/api'

export interface KeptSpan {
  readonly name: string
  readonly kind: number | undefined
  readonly traceId: string
  readonly spanId: string
  readonly parentId: string | null
  readonly attributes: Attributes
  status: SpanStatus | null
  isEnded: boolean
}

const hex = (value: number, digits: number): string => value.toString(16).padStart(digits, '0')

/** A tracer, and its spans in the order of their starts. */
export function memoryTracer(): { readonly tracer: Tracer; readonly spans: KeptSpan[] } {
  const spans: KeptSpan[] = []
  const startSpan = (name: string, options: SpanOptions = {}, context: Context = ROOT_CONTEXT): Span => {
    const parent = trace.getSpanContext(context)
    const id = spans.length + 1
    const kept: KeptSpan = {
      name,
      kind: options.kind,
      traceId: parent?.traceId ?? hex(id, 32),
      spanId: hex(id, 16),
      parentId: parent?.spanId ?? null,
      attributes: { ...options.attributes },
      status: null,
      isEnded: false,
    }
    spans.push(kept)
    const span: Span = {
      spanContext: () => ({ traceId: kept.traceId, spanId: kept.spanId, traceFlags: 1 }),
      setAttribute: (key, value) => (Object.assign(kept.attributes, { [key]: value }), span),
      setAttributes: (attributes) => (Object.assign(kept.attributes, attributes), span),
      addEvent: () => span,
      addLink: () => span,
      addLinks: () => span,
      setStatus: (status) => ((kept.status = status), span),
      updateName: () => span,
      end: () => {
        if (kept.isEnded) throw new Error(`span ${name} ended twice`)
        kept.isEnded = true
      },
      isRecording: () => !kept.isEnded,
      recordException: () => {},
    }
    return span
  }
  return { tracer: { startSpan, startActiveSpan: () => undefined as never }, spans }
}

export interface Measurement {
  readonly name: string
  readonly value: number
  readonly attributes: Attributes
}

/** A meter, and what was recorded. */
export function memoryMeter(): {
  readonly meter: Meter
  readonly records: Measurement[]
  readonly units: Record<string, string | undefined>
} {
  const records: Measurement[] = []
  const units: Record<string, string | undefined> = {}
  const meter = {
    createHistogram: (name: string, { unit }: { readonly unit?: string } = {}) => {
      units[name] = unit
      return { record: (value: number, attributes: Attributes = {}) => void records.push({ name, value, attributes }) }
    },
  }
  return { meter: meter as unknown as Meter, records, units }
}

/** Contexts that follow asynchronous work, as the SDK of Node has them. */
export class StorageContextManager implements ContextManager {
  readonly #storage = new AsyncLocalStorage<Context>()

  active(): Context {
    return this.#storage.getStore() ?? ROOT_CONTEXT
  }
  with<A extends unknown[], F extends (...args: A) => ReturnType<F>>(
    context: Context,
    fn: F,
    self?: ThisParameterType<F>,
    ...args: A
  ): ReturnType<F> {
    return this.#storage.run(context, () => fn.call(self as never, ...args))
  }
  bind<T>(_: Context, target: T): T {
    return target
  }
  enable(): this {
    return this
  }
  disable(): this {
    return this
  }
}
