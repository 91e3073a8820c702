import { longestTimerMs } from '../clock.ts';
import { parseHttpDate } from './http-date.ts';

/** Whole seconds (RFC 9110), or fractions, which some gateways send. */
const seconds = /^\d+(\.\d+)?$/;

/**
 * Parses a `Retry-After` header (RFC 9110, section 10.2.3) to a delay in milliseconds.
 *
 * @param value Header value: seconds, possibly fractional, or an HTTP date. Of several values joined by commas, as
 * gateways produce them, the longest counts.
 * @param nowMs Unix time in milliseconds that a date is compared with. Pass the response's own `Date` if it has one, so
 * that a wrong local clock does no harm.
 * @returns 0 for a date in the past; at most 2³¹−1, the longest timer; undefined for anything that is neither seconds
 * nor a date (negative, empty, `NaN`, `soon`): use your own delay.
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
