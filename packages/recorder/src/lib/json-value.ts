/**
 * Returns the value of a text that is a JSON object or list; undefined for any other text.
 *
 * @param maxLength - longest text that is parsed, in characters
 */
export function jsonValue(text: string, maxLength: number): unknown {
  if (text.length > maxLength || !/^\s*[[{]/.test(text)) return undefined;
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}

/** Maximum number of times that objects occur again in a value that is serialized. */
const maxRepetitions = 10_000;

/**
 * Serializes a value like `JSON.stringify`, in time proportional to its objects: a few objects that refer to each other
 * would otherwise be as long as all paths through them.
 *
 * @throws RangeError when objects occur again too often
 * @throws TypeError when the value is circular or contains a BigInt
 */
export function jsonTextOf(value: unknown): string | undefined {
  const seen = new Set<object>();
  let repetitions = 0;
  return JSON.stringify(value, (_key, part: unknown) => {
    if (typeof part !== 'object' || part === null) return part;
    if (!seen.has(part)) seen.add(part);
    else if (++repetitions > maxRepetitions) throw new RangeError('The same objects occur too often.');
    return part;
  });
}
