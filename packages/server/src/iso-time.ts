let lastMs = Number.NaN;
let lastText = '';

/**
 * A time as the wire writes it: ISO 8601 in UTC with milliseconds and a `Z`. Answers of the same millisecond share the
 * text.
 */
export function isoTime(timeMs: number): string {
  if (timeMs !== lastMs) {
    lastText = new Date(timeMs).toISOString();
    lastMs = timeMs;
  }
  return lastText;
}

/** A time that may be missing, as the wire writes it. */
export function isoTimeOrNull(timeMs: number | null): string | null {
  return timeMs === null ? null : isoTime(timeMs);
}
