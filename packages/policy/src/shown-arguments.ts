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
    if (found.length + inner.length > maxValues || characters > maxCharacters) return false;
    found.push(...inner);
  }
  return true;
}
