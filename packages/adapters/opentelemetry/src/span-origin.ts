import type { ReadableSpan } from '@opentelemetry/sdk-trace-base';

/** Properties for a span's origin in version 1 of the SDK, which Genkit depends on. */
interface Version1 {
  readonly instrumentationLibrary?: { readonly name: string };
  readonly parentSpanId?: string;
}

/** Returns the name of the instrumentation that created a span. */
export function emitterOf(span: ReadableSpan): string {
  const { instrumentationScope, instrumentationLibrary } = span as Partial<ReadableSpan> & Version1;
  return (instrumentationScope ?? instrumentationLibrary)?.name ?? '';
}

/** Returns the id of the parent span; undefined for a root span. */
export function parentIdOf(span: ReadableSpan): string | undefined {
  return span.parentSpanContext?.spanId ?? (span as Version1).parentSpanId;
}
