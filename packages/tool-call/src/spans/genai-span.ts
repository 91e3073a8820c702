import { parseExactJson } from '@actlog/protocol';

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

/** Returns the first of these attributes that is a non-empty string. */
export function textOf(attributes: SpanAttributes | undefined, ...keys: string[]): string | undefined {
  for (const key of keys) {
    const value = attributes?.[key];
    if (typeof value === 'string' && value !== '') return value;
  }
  return undefined;
}

/** Returns the first of these attributes that is a non-empty string or a number, as an id in text. */
export function idOf(attributes: SpanAttributes | undefined, ...keys: string[]): string | undefined {
  for (const key of keys) {
    const value = attributes?.[key];
    if (typeof value === 'number' || (typeof value === 'string' && value !== '')) return String(value);
  }
  return undefined;
}

/** Beginning of every JSON text: parsing another one takes longer than the rest of a span, because it throws. */
const jsonStart = /^\s*(?:[[{"\-\d]|(?:true|false|null)\s*$)/;

/** Parses the JSON of an attribute; undefined if it is missing or truncated. */
export function jsonOf(text: string | undefined): unknown {
  if (text === undefined || !jsonStart.test(text)) return undefined;
  try {
    return parseExactJson(text);
  } catch {
    return undefined;
  }
}
