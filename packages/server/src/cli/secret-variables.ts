import { readFileSync } from 'node:fs';

/**
 * A secret that is given by a variable, or by the file that the variable with `_FILE` at its end names: containers and
 * systemd hand secrets over as files, which no child process inherits and no listing of variables shows.
 *
 * @returns undefined where neither is set.
 * @throws Error when both are set, or when the file cannot be read or is empty; nothing of what it holds is in the
 * message.
 */
export function secretFrom(
  environment: Readonly<Record<string, string | undefined>>,
  variable: string,
): string | undefined {
  const fileVariable = `${variable}_FILE`;
  const given = environment[variable] || undefined;
  const file = environment[fileVariable] || undefined;
  if (file === undefined) return given;
  if (given !== undefined) throw new Error(`${variable} and ${fileVariable} are both set: keep one of them.`);
  const text = contentOf(file, fileVariable).trim();
  if (text !== '') return text;
  throw new Error(`The file "${file}" that ${fileVariable} names is empty.`);
}

function contentOf(file: string, fileVariable: string): string {
  try {
    return readFileSync(file, 'utf8');
  } catch (cause) {
    const problem = (cause as Error).message;
    throw new Error(`The file "${file}" that ${fileVariable} names cannot be read: ${problem}.`, { cause });
  }
}
