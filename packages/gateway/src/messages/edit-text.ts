import { applyEdits, type JSONPath, modify, parseTree } from 'jsonc-parser';

/** Returns a JSON text with one value set, or removed if it is undefined. All other characters stay as they are. */
export function withValue(text: string, path: JSONPath, value: unknown): string {
  return applyEdits(text, modify(text, path, value, {}));
}

/** Returns the texts of the elements of an array. */
export function elementTexts(text: string): string[] {
  const { children = [] } = parseTree(text) ?? {};
  return children.map(({ offset, length }) => text.slice(offset, offset + length));
}

/** Returns an array's text with more elements at its end. */
export function withElements(text: string, elements: readonly string[]): string {
  const end = text.lastIndexOf(']');
  return `${text.slice(0, end)},${elements.join(',')}${text.slice(end)}`;
}
