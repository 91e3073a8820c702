/** Attributes of a span or of an event, by name. */
export type SpanAttributes = Readonly<Record<string, unknown>>;

/** An event of a span. */
export interface SpanEvent {
  readonly name: string;
  readonly attributes?: SpanAttributes | undefined;
}

/** A span that has ended: the part of it that describes a tool call. `ReadableSpan` of the OpenTelemetry SDK is one. */
export interface GenAiSpan {
  readonly name: string;
  readonly attributes: SpanAttributes;
  readonly events: readonly SpanEvent[];
  readonly status: {
    /** 0 for unset, 1 for OK, 2 for an error (`SpanStatusCode` of the OpenTelemetry API). */
    readonly code: number;
    readonly message?: string | undefined;
  };
  /** Instrumentation that created the span. */
  readonly instrumentationScope?: { readonly name: string } | undefined;
  /** The same in version 1 of the JavaScript SDK, which Genkit depends on. */
  readonly instrumentationLibrary?: { readonly name: string } | undefined;
}

/** Returns the name of the instrumentation that created a span. */
export function scopeOf({ instrumentationScope, instrumentationLibrary }: GenAiSpan): string {
  return (instrumentationScope ?? instrumentationLibrary)?.name ?? '';
}
