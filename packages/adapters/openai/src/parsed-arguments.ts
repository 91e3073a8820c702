import { parseExactJson } from '@actlog/recorder/adapter';

/** Parses arguments; a text that is not JSON is returned unchanged. */
export function parsedArguments(text: unknown): unknown {
  if (typeof text !== 'string') return text;
  try {
    return parseExactJson(text);
  } catch {
    return text;
  }
}
