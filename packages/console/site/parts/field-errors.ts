import { createContext } from 'preact';
import { findingsOf } from './findings.ts';

/** Messages about the fields of a form, by the name of the field. */
export const FieldErrorsContext = createContext<ReadonlyMap<string, string>>(new Map());

/**
 * Returns the messages of an error by the name of the field that each is about.
 *
 * @param fieldOf - returns the field for a path in the request; undefined for none
 * @returns undefined if a message is about no field, so that the error has to be shown as a whole
 */
export function fieldErrors(
  error: unknown,
  fieldOf: (path: string) => string | undefined,
): ReadonlyMap<string, string> | undefined {
  const found = findingsOf(error);
  if (found.length === 0) return undefined;
  const messages = new Map<string, string>();
  for (const { path, message } of found) {
    const field = fieldOf(path);
    if (field === undefined) return undefined;
    messages.set(field, [messages.get(field), message].filter(Boolean).join('; '));
  }
  return messages;
}
