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
