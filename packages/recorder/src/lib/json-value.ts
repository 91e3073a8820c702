import { parseExactJson } from '@actlog/tool-call';

/**
 * Returns the value of a text that is a JSON object or list; undefined for any other text.
 *
 * @param maxLength - longest text that is parsed, in characters
 */
export function jsonValue(text: string, maxLength: number): unknown {
  if (text.length > maxLength || !/^\s*[[{]/.test(text)) return undefined;
  try {
    return parseExactJson(text);
  } catch {
    return undefined;
  }
}

/**
 * Decodes a text of a program or a file: UTF-8, or UTF-16 where a byte order mark says so, as PowerShell writes it.
 *
 * @returns the text without the mark
 */
export function decodeText(bytes: Uint8Array): string {
  const mark = `${bytes[0]},${bytes[1]}`;
  const encoding = mark === '255,254' ? 'utf-16le' : mark === '254,255' ? 'utf-16be' : 'utf-8';
  return new TextDecoder(encoding).decode(bytes);
}
