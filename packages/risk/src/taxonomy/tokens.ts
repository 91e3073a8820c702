const maxNameLength = 200;

/** A tool name, split into namespace and base name. */
export interface NameParts {
  /** Prefix before the base name: `mcp__server` for `mcp__server__tool`. Empty if there is none. */
  readonly namespace: string;
  /** Name without the prefix. */
  readonly base: string;
}

/**
 * Splits a namespaced name at its last separator: `server__tool`, `server/tool`, `server:tool`, and
 * `server.tool` (a dot counts too, as the dotted styles use it for the same purpose).
 */
export function nameParts(toolName: string): NameParts {
  const name = toolName.slice(0, maxNameLength);
  let cut = -1;
  let width = 1;
  for (const separator of ['__', '/', ':', '.']) {
    const at = name.lastIndexOf(separator, name.length - separator.length - 1);
    if (at > 0 && at > cut) {
      cut = at;
      width = separator.length;
    }
  }
  if (cut < 1) return { namespace: '', base: name };
  return { namespace: name.slice(0, cut), base: name.slice(cut + width) };
}

/**
 * Returns the words of a name in lower case, for any style: snake_case, kebab-case, camelCase, PascalCase, UPPER_CASE,
 * dotted.
 */
export function words(name: string): string[] {
  return name
    .slice(0, maxNameLength)
    .normalize('NFKC')
    .replace(/([\p{Ll}\d])(\p{Lu})/gu, '$1 $2')
    .replace(/(\p{Lu}+)(\p{Lu}\p{Ll})/gu, '$1 $2')
    .toLowerCase()
    .split(/[^\p{L}\p{N}]+/u)
    .filter((word) => word !== '');
}

/**
 * Splits letters without a boundary ("sendemail") into known words, longest first.
 * Returns the word itself if it cannot be split completely.
 */
export function segment(word: string, known: (part: string) => boolean): string[] {
  if (word.length < 6 || word.length > 40 || known(word)) return [word];
  const best: (string[] | undefined)[] = [[]];
  for (let end = 1; end <= word.length; end++) {
    for (let start = Math.max(0, end - 16); start <= end - 2; start++) {
      const before = best[start];
      if (before === undefined) continue;
      const part = word.slice(start, end);
      if (!known(part)) continue;
      const current = best[end];
      if (current === undefined || before.length + 1 < current.length) best[end] = [...before, part];
    }
  }
  return best[word.length] ?? [word];
}
