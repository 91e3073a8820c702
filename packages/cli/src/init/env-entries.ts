import { chmodSync, readFileSync, statSync, writeFileSync } from 'node:fs';
import { parseEnv } from 'node:util';
import { decodeText } from '@actlog/recorder/short-lived';

/** Permissions of a file that contains the API key. */
const ownerOnly = 0o600;

/** Result of {@link addEnvEntries}. */
export interface EnvChange {
  /** Names that were added. */
  readonly added: readonly string[];
  /** Names that had a value, which stays. */
  readonly kept: readonly string[];
}

/** Returns the variables of a file in the format of `node --env-file`; none if it does not exist. */
export function readEnvEntries(file: string): Readonly<Record<string, string | undefined>> {
  return parseEnv(readText(file));
}

/**
 * Adds variables to a file without changing a value that is there. An empty value counts as missing. Comments, order and
 * line endings stay. A file with an added variable is readable for its owner only.
 *
 * @throws the system's error when the file cannot be written
 */
export function addEnvEntries(file: string, entries: Readonly<Record<string, string>>): EnvChange {
  const before = readText(file);
  const present = parseEnv(before);
  const [added, kept]: [string[], string[]] = [[], []];
  let text = before;
  for (const [name, value] of Object.entries(entries)) {
    if (present[name]) kept.push(name);
    else {
      text = withEntry(text, name, value);
      added.push(name);
    }
  }
  if (text !== before) {
    // Before the key is in it: the mode counts only for a new file.
    if (before !== '') chmodSync(file, statSync(file).mode & ownerOnly);
    writeFileSync(file, text, { mode: ownerOnly });
  }
  return { added, kept };
}

function withEntry(text: string, name: string, value: string): string {
  const empty = new RegExp(`^(\\s*(?:export\\s+)?${name}\\s*=)[^\\S\\r\\n]*(?:""|'')?[^\\S\\r\\n]*$`, 'm');
  if (empty.test(text)) return text.replace(empty, (_, start: string) => start + value);
  const lineBreak = text.includes('\r\n') ? '\r\n' : '\n';
  const start = text === '' || text.endsWith('\n') ? text : text + lineBreak;
  return `${start}${name}=${value}${lineBreak}`;
}

function readText(file: string): string {
  try {
    return decodeText(readFileSync(file));
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'ENOENT') return '';
    throw error;
  }
}
