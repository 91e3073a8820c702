import type { ReadableSpan } from '@opentelemetry/sdk-trace-base';

/** Parent of a span in version 1 of the SDK, which Genkit depends on. */
interface Version1 {
  readonly parentSpanId?: string;
}

/** Returns the id of the parent span; undefined for a root span. */
export function parentIdOf(span: ReadableSpan): string | undefined {
  return span.parentSpanContext?.spanId ?? (span as Version1).parentSpanId;
}
