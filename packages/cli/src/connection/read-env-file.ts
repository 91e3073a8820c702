import { readFileSync } from 'node:fs';
import { parseEnv } from 'node:util';
import { decodeText } from '@actlog/recorder/short-lived';
import { UsageError } from '../errors/usage-error.ts';

/**
 * Returns the variables of a file in the format of `node --env-file`.
 *
 * @throws UsageError when the file cannot be read. The message contains nothing of its content.
 */
export function readEnvFile(file: string): Readonly<Record<string, string | undefined>> {
  try {
    return parseEnv(decodeText(readFileSync(file)));
  } catch (cause) {
    const { code } = cause as NodeJS.ErrnoException;
    const problem = code === 'ENOENT' ? 'does not exist' : `cannot be read (${code ?? 'unknown error'})`;
    throw new UsageError(`The file "${file}" of --env-file ${problem}: check its path and permissions.`, {
      cause,
    });
  }
}
