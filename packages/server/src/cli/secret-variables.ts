import { readFileSync } from 'node:fs';

/**
 * Returns a secret from an environment variable, or from the file that the variable with the suffix `_FILE` names.
 * Containers and systemd provide secrets as files, which child processes do not inherit and listings do not show.
 *
 * @returns `undefined` when neither is set.
 * @throws Error when both are set, or when the file is unreadable or empty. The message does not contain the secret.
 */
export function secretFrom(
  environment: Readonly<Record<string, string | undefined>>,
  variable: string,
): string | undefined {
  const fileVariable = `${variable}_FILE`;
  const given = environment[variable] || undefined;
  const file = environment[fileVariable] || undefined;
  if (file === undefined) return given;
  if (given !== undefined)
    throw new Error(`${variable} and ${fileVariable} are both set: set only one of them.`);
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
