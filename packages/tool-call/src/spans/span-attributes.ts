import { parseExactJson } from '@actlog/protocol';
import type { SpanAttributes } from './genai-span.ts';

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
