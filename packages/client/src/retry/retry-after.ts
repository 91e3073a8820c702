import { longestTimerMs } from '../client-options.ts';

/**
 * Error thrown when a hook of the caller or the destination of the body fails, for example on a full disk. The call is
 * not retried and rejects with `cause`, which may be any value.
 */
export class NonRetryableError extends Error {}

/** Whole seconds (RFC 9110), or fractions, which some gateways send. */
const seconds = /^\d+(\.\d+)?$/;

/**
 * Parses a `Retry-After` header (RFC 9110, section 10.2.3) to a delay in milliseconds.
 *
 * @param value Header value: seconds, possibly fractional, or an HTTP date. Of several values joined by commas, as
 *   gateways produce them, the longest counts.
 * @param nowMs Unix time in milliseconds that a date is compared with. Pass the `Date` of the response if it has one,
 *   so that a wrong local clock does no harm.
 * @returns 0 for a date in the past; at most 2³¹−1, the longest timer; undefined for anything that is neither seconds
 *   nor a date (negative, empty, `NaN`, `soon`): use a default delay.
 *
 * @example
 * ```ts
 * const delayMs = parseRetryAfter(new Headers({ 'retry-after': '30' }).get('retry-after'), Date.now()) ?? 1_000;
 * ```
 */
export function parseRetryAfter(value: string | null | undefined, nowMs: number): number | undefined {
  const text = value?.trim();
  if (!text) return undefined;
  const parts = text.split(',').map((part) => part.trim());
  if (parts.every((part) => seconds.test(part))) {
    return clamp(Math.max(...parts.map(Number)) * 1000);
  }
  const date = parseHttpDate(text, nowMs);
  return date === undefined ? undefined : clamp(date - nowMs);
}

function clamp(delayMs: number): number {
  return Math.min(Math.max(0, Math.ceil(delayMs)), longestTimerMs);
}

const month = '([A-Z][a-z]{2})';
const time = '(\\d{2}:\\d{2}:\\d{2})';

/**
 * Formats of RFC 9110, section 5.6.7: IMF-fixdate and RFC 850 (one pattern, they differ only in length), and asctime.
 */
const dayFirst = new RegExp(`^[A-Z][a-z]{2,8}, (\\d{2})[ -]${month}[ -](\\d{2}|\\d{4}) ${time} GMT$`);
const asctime = new RegExp(`^[A-Z][a-z]{2} ${month} ([ \\d]\\d) ${time} (\\d{4})$`);

/**
 * Parses an HTTP date (RFC 9110, section 5.6.7) to Unix milliseconds, or returns undefined. `Date.parse` alone would
 * also accept `1`, `2026` and local times.
 */
export function parseHttpDate(value: string, nowMs: number): number | undefined {
  const [, day, name, year, clock] = dayFirst.exec(value) ?? [];
  const date = asctime.exec(value) ?? ['', name, day, clock, fullYear(Number(year), nowMs)];
  // The format that every `Date.parse` must support (ECMAScript, "Date.parse").
  const at = Date.parse(`Thu, ${date[2]} ${date[1]} ${date[4]} ${date[3]} GMT`);
  return Number.isNaN(at) ? undefined : at;
}

/** Expands a two-digit year: one that seems more than 50 years ahead is in the past (RFC 9110, section 5.6.7). */
function fullYear(year: number, nowMs: number): number {
  if (year > 99) return year;
  const thisYear = new Date(nowMs).getUTCFullYear();
  const guess = thisYear - (thisYear % 100) + year;
  return guess > thisYear + 50 ? guess - 100 : guess;
}
