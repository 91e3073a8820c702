/** Characters that control a terminal, reorder text, are invisible, or break a line. */
const hidden = /[\p{Cc}\p{Cf}\p{Cs}\p{Default_Ignorable_Code_Point}\p{Zl}\p{Zp}]/gu;

const shortEscapes: Readonly<Record<string, string>> = { '\n': '\\n', '\r': '\\r', '\t': '\\t' };

/**
 * Returns a text that is safe to print on a terminal, on one line: control characters, such as those of escape
 * sequences, and characters that reorder or hide text become escapes such as `\u001b`. Ids and names come from agents.
 */
export function printable(text: string): string {
  return text.replaceAll(hidden, (character) => shortEscapes[character] ?? escaped(character));
}

/** Returns a text of several lines that is safe to print: like `printable`, but line breaks and tabs are kept. */
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
