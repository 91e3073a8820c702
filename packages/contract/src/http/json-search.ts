import { isObject, type JsonObject } from './api-response.ts';

/** Yields every value in a document, starting with the document itself. */
export function* values(document: unknown): Generator<unknown> {
  yield document;
  if (typeof document !== 'object' || document === null) return;
  for (const value of Object.values(document)) yield* values(value);
}

/** `true` if a document contains a string that equals the text. */
export function holds(document: unknown, text: string): boolean {
  return values(document).some((value) => value === text);
}

/** Returns every array in a document. */
export function arrays(document: unknown): unknown[][] {
  return [...values(document).filter((value) => Array.isArray(value))];
}

/** Returns every object in a document. */
export function objects(document: unknown): JsonObject[] {
  return [...values(document).filter(isObject)];
}

/** Returns the distinct member names in a document. */
export function memberNames(document: unknown): string[] {
  return [...new Set(objects(document).flatMap((object) => Object.keys(object)))];
}
