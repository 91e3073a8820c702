import { isObject, type JsonObject } from './api-response.ts';

/** Yields every value in a document, starting with the document itself. */
export function* values(document: unknown): Generator<unknown> {
  yield document;
  if (typeof document !== 'object' || document === null) return;
  for (const value of Object.values(document)) yield* values(value);
}

/** `true` if a document contains a string, or a number, that reads like the text. */
export function holds(document: unknown, text: string): boolean {
  return values(document).some(
    (value) => value === text || (typeof value === 'number' && String(value) === text),
  );
}

/** `true` if a document contains the id of an event, in upper or lower case (RFC 9562), as a value or as a name. */
export function mentions(document: unknown, eventId: string): boolean {
  const wanted = eventId.toLowerCase();
  const isId = (value: unknown) => typeof value === 'string' && value.toLowerCase() === wanted;
  return values(document).some((value) => isId(value) || (isObject(value) && Object.keys(value).some(isId)));
}

/** Returns every array in a document. */
export function arrays(document: unknown): unknown[][] {
  return [...values(document).filter((value) => Array.isArray(value))];
}

/** Returns every object in a document. */
export function objects(document: unknown): JsonObject[] {
  return [...values(document).filter(isObject)];
}

/** Returns the values of every member with this name in a document. */
export function membersNamed(document: unknown, name: string): unknown[] {
  return objects(document).flatMap((object) => (Object.hasOwn(object, name) ? [object[name]] : []));
}
