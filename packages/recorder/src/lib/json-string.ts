/** Matches ASCII strings that need no escaping. */
const unescaped = /^[\x20\x21\x23-\x5b\x5d-\x7e]*$/;

/** Serializes a string like `JSON.stringify`, but faster if nothing needs escaping. */
export function jsonString(text: string): string {
  return unescaped.test(text) ? `"${text}"` : JSON.stringify(text);
}
