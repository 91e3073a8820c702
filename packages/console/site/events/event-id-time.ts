/** A UUID of version 7, which begins with its time (RFC 9562, section 5.7). */
const version7 = /^([\da-f]{8})-([\da-f]{4})-7[\da-f]{3}-[89ab][\da-f]{3}-[\da-f]{12}$/i;

/** Returns the time in an event id; undefined if it is not a UUID of version 7. */
export function eventIdTime(eventId: string): Date | undefined {
  const [, high, low] = version7.exec(eventId) ?? [];
  return high === undefined ? undefined : new Date(Number.parseInt(`${high}${low}`, 16));
}
