const months = 'JanFebMarAprMayJunJulAugSepOctNovDec';
const month = '([A-Z][a-z]{2})';
const time = '(\\d{2}):(\\d{2}):(\\d{2})';

/** The three forms of RFC 9110, section 5.6.7: IMF-fixdate, RFC 850 and asctime. */
const fixed = new RegExp(`^[A-Z][a-z]{2}, (\\d{2}) ${month} (\\d{4}) ${time} GMT$`);
const rfc850 = new RegExp(`^[A-Z][a-z]{5,8}, (\\d{2})-${month}-(\\d{2}) ${time} GMT$`);
const asctime = new RegExp(`^[A-Z][a-z]{2} ${month} ([ \\d]\\d) ${time} (\\d{4})$`);

/**
 * Reads an HTTP date (RFC 9110, section 5.6.7) as milliseconds since the epoch, or undefined where it is none.
 * `Date.parse` would do more: it takes `1`, `2026` and local times for dates.
 */
export function parseHttpDate(value: string, nowMs: number): number | undefined {
  const match = fixed.exec(value) ?? rfc850.exec(value);
  if (match) {
    const [, day, name, year, hours, minutes, seconds] = match;
    return toTime(fullYear(Number(year), nowMs), name, day, hours, minutes, seconds);
  }
  const [, name, day, hours, minutes, seconds, year] = asctime.exec(value) ?? [];
  return name === undefined ? undefined : toTime(Number(year), name, day, hours, minutes, seconds);
}

/** A year of two digits that seems more than 50 years ahead lies in the past (RFC 9110, section 5.6.7). */
function fullYear(year: number, nowMs: number): number {
  if (year > 99) return year;
  const thisYear = new Date(nowMs).getUTCFullYear();
  const guess = thisYear - (thisYear % 100) + year;
  return guess > thisYear + 50 ? guess - 100 : guess;
}

function toTime(year: number, name?: string, ...rest: (string | undefined)[]): number | undefined {
  const [day = 0, hours = 0, minutes = 0, seconds = 0] = rest.map(Number);
  const month = months.indexOf(name ?? '') / 3;
  if (month < 0 || day < 1 || day > 31 || hours > 23 || minutes > 59 || seconds > 60) return undefined;
  return Date.UTC(year, month, day, hours, minutes, seconds);
}
