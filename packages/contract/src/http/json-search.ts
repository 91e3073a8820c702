import { isObject, type JsonObject } from './answer.ts';

/** Every value in a document, outermost first; the document itself comes first. */
export function* values(document: unknown): Generator<unknown> {
  yield document;
  if (typeof document !== 'object' || document === null) return;
  for (const value of Object.values(document)) yield* values(value);
}

/** Whether a text stands anywhere in a document as a whole string. */
export function holds(document: unknown, text: string): boolean {
  return values(document).some((value) => value === text);
}

/** Every array in a document. */
export function arrays(document: unknown): unknown[][] {
  return [...values(document).filter((value) => Array.isArray(value))];
}

/** Every object in a document. */
export function objects(document: unknown): JsonObject[] {
  return [...values(document).filter(isObject)];
}

/** The name of every member in a document, once each. */
export function memberNames(document: unknown): string[] {
  return [...new Set(objects(document).flatMap((object) => Object.keys(object)))];
}
