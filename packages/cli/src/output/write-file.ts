import { mkdirSync, writeFileSync } from 'node:fs';
import { dirname } from 'node:path';
import { UsageError } from '../errors/usage-error.ts';

/** Writes a text file, and creates its folder. @throws UsageError when the file cannot be written */
export function writeFile(file: string, text: string): void {
  try {
    mkdirSync(dirname(file), { recursive: true });
    writeFileSync(file, text);
  } catch (cause) {
    throw new UsageError(`The file "${file}" cannot be written: ${(cause as Error).message}.`, { cause });
  }
}
