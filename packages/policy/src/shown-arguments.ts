/** What shown arguments may hold for a condition to read them; it bounds the time of the worst condition. */
const maxValues = 500;
const maxCharacters = 32 * 1024;

/** Whether a condition may read these arguments. Looks at no more of them than the bound. */
export function areBounded(shown: Readonly<Record<string, unknown>>): boolean {
  let characters = 0;
  const found: unknown[] = [shown];
  for (let index = 0; index < found.length; index += 1) {
    const value = found[index];
    if (typeof value === 'string') characters += value.length;
    const inner = typeof value === 'object' && value !== null ? Object.values(value) : [];
    if (found.length + inner.length > maxValues) return false;
    // A condition goes through the names of an object as through texts.
    if (inner.length > 0 && !Array.isArray(value)) characters += Object.keys(value as object).join('').length;
    if (characters > maxCharacters) return false;
    found.push(...inner);
  }
  return true;
}
