/** Returns a time in ISO 8601; a text as it is. */
export function timeText(time: Date | string | undefined): string | undefined {
  return time instanceof Date ? time.toISOString() : time;
}
