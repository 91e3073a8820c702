import { atLeast, booleanVariable } from '../lib/option-checks.ts';

/** Options of argument origins. */
export interface OriginsOptions {
  /**
   * Maximum memory for the messages and results of one session, in bytes, at least 16 KiB. Beyond it, the oldest
   * results are forgotten, and what came from them is reported as `unknown`. Default 256 KiB, about 30 pages of text.
   */
  readonly maxSessionBytes?: number | undefined;
  /** Maximum number of sessions in memory; beyond it, the least recently used are forgotten. Default 100. */
  readonly maxSessions?: number | undefined;
}

/** Options of argument origins, completed. */
export interface OriginsSettings {
  readonly maxSessionBytes: number;
  readonly maxSessions: number;
}

/**
 * Checks the option `origins` and applies the defaults; undefined if origins are off.
 *
 * @throws RangeError or TypeError when the option or `ACTLOG_ORIGINS` is invalid
 */
export function resolveOrigins(given: boolean | OriginsOptions | undefined): OriginsSettings | undefined {
  const option = given === undefined ? (booleanVariable('ACTLOG_ORIGINS') ?? false) : given;
  if (option === false) return undefined;
  if (option !== true && (typeof option !== 'object' || option === null || Array.isArray(option))) {
    throw new TypeError('origins must be true, false or an object such as { maxSessionBytes: 262144 }.');
  }
  const options: OriginsOptions = option === true ? {} : option;
  return {
    maxSessionBytes: atLeast(16 * 1024, 'origins.maxSessionBytes', options.maxSessionBytes, 256 * 1024),
    maxSessions: atLeast(1, 'origins.maxSessions', options.maxSessions, 100),
  };
}
