import type { ReadableSpan } from '@opentelemetry/sdk-trace-base';

/** Attributes of a span or of an event. */
export type SpanAttributes = ReadableSpan['attributes'];

/** The first of these attributes that is a text and not empty. */
export function textOf(attributes: SpanAttributes | undefined, ...keys: string[]): string | undefined {
  for (const key of keys) {
    const value = attributes?.[key];
    if (typeof value === 'string' && value !== '') return value;
  }
  return undefined;
}

/** The JSON of an attribute; undefined where there is none, or where it was cut short. */
export function jsonOf(text: string | undefined): unknown {
  if (text === undefined) return undefined;
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}
