/**
 * Returns a pattern for an output or a line in a page: `…` matches anything, and white space matches white space of any
 * length.
 *
 * @param anything - source of the pattern for `…`; by default it also matches line breaks
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
 * Returns the lines of a shell block as a reader types them: a line with `…` is replaced by the printed line that matches
 * it.
 *
 * @throws Error when no printed line matches
 */
export function typedLines(lines: readonly string[], printed: string): string[] {
  return lines.map((line) => {
    if (!line.includes('…')) return line;
    const found = patternOf(line.trim(), '\\S+').exec(printed)?.[0];
    if (found === undefined) throw new Error(`no printed line matches "${line}"`);
    return found;
  });
}
