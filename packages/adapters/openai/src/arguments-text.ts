/** Arguments as the model meant them; a text that is no JSON stays as it is. */
export function parsedArguments(text: unknown): unknown {
  if (typeof text !== 'string') return text;
  try {
    return JSON.parse(text);
  } catch {
    return text;
  }
}
