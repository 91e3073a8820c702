import type { ReadableSpan } from '@opentelemetry/sdk-trace-base';

/** What version 1 of the SDK, which Genkit brings, has for where a span comes from. */
interface Version1 {
  readonly instrumentationLibrary?: { readonly name: string };
  readonly parentSpanId?: string;
}

/** The name of the instrumentation that made a span. */
export function emitterOf(span: ReadableSpan): string {
  const { instrumentationScope, instrumentationLibrary } = span as Partial<ReadableSpan> & Version1;
  return (instrumentationScope ?? instrumentationLibrary)?.name ?? '';
}

/** The id of the span around a span; undefined for the outermost of a trace. */
export function parentIdOf(span: ReadableSpan): string | undefined {
  return span.parentSpanContext?.spanId ?? (span as Version1).parentSpanId;
}
