import { parseExactJson } from '@actlog/tool-call';

/**
 * Parses a string that contains a JSON object or array; returns undefined for any other string.
 *
 * @param maxLength - maximum length to parse, in characters
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
 * Decodes the output of a program or a file: UTF-8, or UTF-16 with a byte order mark, as PowerShell writes it.
 *
 * @returns the text without the mark
 */
export function decodeText(bytes: Uint8Array): string {
  const mark = `${bytes[0]},${bytes[1]}`;
  const encoding = mark === '255,254' ? 'utf-16le' : mark === '254,255' ? 'utf-16be' : 'utf-8';
  return new TextDecoder(encoding).decode(bytes);
}
