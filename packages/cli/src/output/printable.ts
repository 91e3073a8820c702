import { createRequire } from 'node:module';

/** Characters that control a terminal, reorder text, are invisible, or break a line. */
const hidden = /[\p{Cc}\p{Cf}\p{Cs}\p{Default_Ignorable_Code_Point}\p{Zl}\p{Zp}]/gu;

const shortEscapes: Readonly<Record<string, string>> = { '\n': '\\n', '\r': '\\r', '\t': '\\t' };

/**
 * Makes text safe to print on a terminal, on one line: control characters, as in escape sequences, and characters that
 * reorder or hide text become escapes such as `\u001b`. Ids and names come from agents.
 */
export function printable(text: string): string {
  return text.replaceAll(hidden, (character) => shortEscapes[character] ?? escaped(character));
}

/** Makes text of several lines safe to print: like `printable`, but keeps line breaks and tabs. */
export function printableLines(text: string): string {
  return text.replaceAll('\r\n', '\n').split('\n').map(printable).join('\n');
}

/** Returns the escape of each UTF-16 code unit, as in JSON. */
export function escaped(character: string): string {
  return Array.from(
    { length: character.length },
    (_, index) => `\\u${character.charCodeAt(index).toString(16).padStart(4, '0')}`,
  ).join('');
}

/** Characters of one column: printable ASCII, and the dash and the ellipsis of tables. */
const narrow = /^[\x20-\x7e–…]*$/;
const segmenter = new Intl.Segmenter();

let stringWidth: ((text: string) => number) | undefined;

/** Returns the number of terminal columns that a string takes. Wide characters take two. */
export function widthOf(text: string): number {
  if (narrow.test(text)) return text.length;
  // Loaded on first use, because its Unicode tables take a third of the time of a short command.
  stringWidth ??= (createRequire(import.meta.url)('string-width') as typeof import('string-width')).default;
  return stringWidth(text);
}

/** Returns the text if it fits into `width` columns, otherwise its start with an ellipsis. */
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

/** Returns the width of the terminal that standard output goes to; `Infinity` for a pipe or a file. */
export function terminalWidth(): number {
  return process.stdout.isTTY ? process.stdout.columns || 80 : Number.POSITIVE_INFINITY;
}
