import { type Command, InvalidArgumentError } from 'commander';

/** Parses a whole number of at least 1. @throws InvalidArgumentError */
export function parseCount(text: string): number {
  if (/^[1-9]\d{0,8}$/.test(text)) return Number(text);
  throw new InvalidArgumentError('It must be a whole number of at least 1.');
}

/** Parses a whole number. @throws InvalidArgumentError */
export function parseWholeNumber(text: string): number {
  if (/^-?\d{1,9}$/.test(text)) return Number(text);
  throw new InvalidArgumentError('It must be a whole number.');
}

/** Parses a risk score. @throws InvalidArgumentError */
export function parseScore(text: string): number {
  const score = Number(text);
  if (text.trim() !== '' && score >= 0 && score <= 100) return score;
  throw new InvalidArgumentError('It must be a number from 0 to 100.');
}

/** Parses a number of days, which may be fractional. @throws InvalidArgumentError */
export function parseDays(text: string): number {
  const days = Number(text);
  if (text.trim() !== '' && days >= 0 && Number.isFinite(days)) return days;
  throw new InvalidArgumentError('It must be a number of days, such as 7 or 0.5.');
}

/** Options of a list. */
export interface LimitFlags {
  /** Maximum number of items; `Infinity` for all. */
  readonly limit: number;
}

/** Adds `--limit` to a command. */
export function addLimitOption(command: Command, noun: string, limit = 50): Command {
  return command.option(
    '--limit <number>',
    `maximum number of ${noun}, or "all"`,
    (text: string) => (text === 'all' ? Number.POSITIVE_INFINITY : parseCount(text)),
    limit,
  );
}

/** Returns the page size for a limit: one more than the limit, to see if there are more, and at most what the service allows. */
export function pageSizeFor(limit: number): number {
  return Math.min(limit + 1, 200);
}

/** Returns the fields of an object that have a value, or undefined if there are none. */
export function definedFields<Fields extends object>(
  fields: Fields,
): { [Name in keyof Fields]: Exclude<Fields[Name], undefined> } | undefined {
  const entries = Object.entries(fields).filter(([, value]) => value !== undefined);
  return entries.length === 0 ? undefined : (Object.fromEntries(entries) as never);
}
