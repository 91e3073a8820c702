/** A time as the wire writes it: ISO 8601 in UTC with milliseconds and a `Z`. */
export function isoTime(timeMs: number): string {
  return new Date(timeMs).toISOString();
}

/** A time that may be missing, as the wire writes it. */
export function isoTimeOrNull(timeMs: number | null): string | null {
  return timeMs === null ? null : isoTime(timeMs);
}
