import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { parseEnv } from 'node:util';
import { decodeText } from '@actlog/recorder/short-lived';
import { readEnvFile } from '../connection/connect.ts';

/** Variables that a program on this machine would see. */
export class Variables {
  readonly #given: Readonly<Record<string, string | undefined>>;
  readonly #dir: string;

  /**
   * @param envFile - file whose variables precede the environment
   * @param overrides - values of options, which precede all
   * @throws UsageError when the file cannot be read
   */
  constructor(dir: string, envFile?: string, overrides: Readonly<Record<string, string | undefined>> = {}) {
    const defined = Object.entries(overrides).filter(([, value]) => value !== undefined);
    this.#dir = dir;
    this.#given = {
      ...process.env,
      ...(envFile === undefined ? {} : readEnvFile(envFile)),
      ...Object.fromEntries(defined),
    };
  }

  /** Returns a variable without the white space around it; undefined if it is missing or empty, as in the client. */
  get(name: string): string | undefined {
    return this.#given[name]?.trim() || undefined;
  }

  /** `true` if the project's `.env` sets a variable. Programs see it only if they load that file. */
  isInEnvFile(name: string): boolean {
    try {
      return Boolean(parseEnv(decodeText(readFileSync(join(this.#dir, '.env'))))[name]?.trim());
    } catch {
      return false;
    }
  }
}
