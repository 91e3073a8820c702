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
