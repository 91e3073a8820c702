import { createRequire } from 'node:module';

/** Characters of one column: those of ASCII, and the dash and the ellipsis of tables. */
const narrow = /^[\x20-\x7e–…]*$/;
const segmenter = new Intl.Segmenter();

let stringWidth: ((text: string) => number) | undefined;

/** Returns the number of terminal columns that a text takes. Wide characters take two. */
export function widthOf(text: string): number {
  if (narrow.test(text)) return text.length;
  // Loaded when a text needs it, because its tables of Unicode take a third of the time of a short command.
  stringWidth ??= (createRequire(import.meta.url)('string-width') as typeof import('string-width')).default;
  return stringWidth(text);
}

/** Returns the text if it fits into `width` columns, or else its start with an ellipsis. */
export function cutToWidth(text: string, width: number): string {
  if (widthOf(text) <= width) return text;
  let kept = '';
  let used = 1; // the ellipsis
  for (const { segment } of segmenter.segment(text)) {
    used += widthOf(segment);
    if (used > width) break;
    kept += segment;
  }
  return `${kept}…`;
}
