/**
 * Whether a text fits a pattern in which `*` stands for any run of characters and everything else for itself. The
 * pieces between the stars are looked for one after the other, so that its time stays bounded.
 */
export function fitsGlob(pattern: string, text: string): boolean {
  const [first = '', ...others] = pattern.split('*');
  const last = others.pop();
  if (last === undefined) return text === first;
  if (!text.startsWith(first)) return false;
  let position = first.length;
  for (const piece of others) {
    const found = text.indexOf(piece, position);
    if (found < 0) return false;
    position = found + piece.length;
  }
  return text.length - last.length >= position && text.endsWith(last);
}
