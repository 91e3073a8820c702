import * as z from 'zod';

let lastMs = Number.NaN;
let lastText = '';

/**
 * Formats a time for the wire: ISO 8601 in UTC with milliseconds and a `Z`. The last result is cached, because
 * responses often share the millisecond.
 */
export function isoTime(timeMs: number): string {
  if (timeMs !== lastMs) {
    lastText = new Date(timeMs).toISOString();
    lastMs = timeMs;
  }
  return lastText;
}

/** Formats a time that may be `null` for the wire. */
export function isoTimeOrNull(timeMs: number | null): string | null {
  return timeMs === null ? null : isoTime(timeMs);
}

/** A time in ISO 8601 with any offset. */
export const time: z.ZodISODateTime = z.iso.datetime({
  offset: true,
  error: 'must be a time in ISO 8601, such as 2026-01-31T12:00:00.000Z',
});

/** A time in ISO 8601, converted to Unix milliseconds. */
export const timeMs: z.ZodType<number> = time.transform((text) => Date.parse(text));
