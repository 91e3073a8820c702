/**
 * Returns a pattern for an output or a line as a page shows it: `…` matches anything, and white space matches white
 * space of any length.
 *
 * @param anything - Source of the pattern for `…`; by default it matches everything, line breaks included.
 */
export function patternOf(printed: string, anything = '[\\s\\S]*?'): RegExp {
  const parts = printed.split('…').map((part) =>
    part
      .split(/\s+/)
      .map((word) => word.replaceAll(/[\\^$.*+?()[\]{}|/-]/g, '\\$&'))
      .join('\\s+'),
  );
  return new RegExp(parts.join(anything));
}

/**
 * Lines that a page asks for, as its reader types them: where a line has `…` in it, the reader copies the line that
 * was printed.
 *
 * @throws Error when nothing of the kind was printed
 */
export function typedLines(lines: readonly string[], printed: string): string[] {
  return lines.map((line) => {
    if (!line.includes('…')) return line;
    const found = patternOf(line.trim(), '\\S+').exec(printed)?.[0];
    if (found === undefined) throw new Error(`no line like "${line}" was printed that could be copied`);
    return found;
  });
}
