import type { SpanAttributes } from './genai-span.ts';

/** Returns the first of these attributes that is a non-empty string. */
export function textOf(attributes: SpanAttributes | undefined, ...keys: string[]): string | undefined {
  for (const key of keys) {
    const value = attributes?.[key];
    if (typeof value === 'string' && value !== '') return value;
  }
  return undefined;
}

/** Parses the JSON of an attribute; undefined if it is missing or truncated. */
export function jsonOf(text: string | undefined): unknown {
  if (text === undefined) return undefined;
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}
