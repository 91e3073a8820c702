/** ASCII without what must be escaped. */
const unescaped = /^[\x20\x21\x23-\x5b\x5d-\x7e]*$/;

/** The JSON of a string: what `JSON.stringify` makes, sooner for the common case that nothing needs escaping. */
export function jsonString(text: string): string {
  return unescaped.test(text) ? `"${text}"` : JSON.stringify(text);
}
