/** Trace context in the form of W3C, as MCP carries it in `_meta` (SEP-414). */
import type { Context } from '@opentelemetry/api'

type Api = typeof import('@opentelemetry/api')

/** `traceparent` and `tracestate` of the span of a context, and `baggage` where it is wanted and a propagator writes it; undefined where there is no valid span. */
export function traceContext(api: Api, context: Context, withBaggage: boolean): Record<string, string> | undefined {
  const span = api.trace.getSpanContext(context)
  if (span === undefined || !api.isSpanContextValid(span)) return undefined
  const flags = (span.traceFlags & 0xff).toString(16).padStart(2, '0')
  const state = span.traceState?.serialize() ?? ''
  return {
    traceparent: `00-${span.traceId}-${span.spanId}-${flags}`,
    ...(state !== '' && { tracestate: state }),
    ...(withBaggage && baggage(api, context)),
  }
}

/** How baggage is written is the propagator's business; whatever else it writes has no place in `_meta`. */
function baggage(api: Api, context: Context): Record<string, string> {
  const carrier: Record<string, unknown> = {}
  api.propagation.inject(context, carrier)
  return typeof carrier['baggage'] === 'string' ? { baggage: carrier['baggage'] } : {}
}
