const month = '([A-Z][a-z]{2})';
const time = '(\\d{2}:\\d{2}:\\d{2})';

/** The forms of RFC 9110, section 5.6.7: IMF-fixdate and RFC 850, which differ in length alone, and asctime. */
const dayFirst = new RegExp(`^[A-Z][a-z]{2,8}, (\\d{2})[ -]${month}[ -](\\d{2}|\\d{4}) ${time} GMT$`);
const asctime = new RegExp(`^[A-Z][a-z]{2} ${month} ([ \\d]\\d) ${time} (\\d{4})$`);

/**
 * Reads an HTTP date (RFC 9110, section 5.6.7) as milliseconds since the epoch, or undefined where it is none.
 * `Date.parse` by itself would do more: it takes `1`, `2026` and local times for dates.
 */
export function parseHttpDate(value: string, nowMs: number): number | undefined {
  const [, day, name, year, clock] = dayFirst.exec(value) ?? [];
  const date = asctime.exec(value) ?? ['', name, day, clock, fullYear(Number(year), nowMs)];
  // The form that every `Date.parse` must take (ECMAScript, "Date.parse").
  const at = Date.parse(`Thu, ${date[2]} ${date[1]} ${date[4]} ${date[3]} GMT`);
  return Number.isNaN(at) ? undefined : at;
}

/** A year of two digits that seems more than 50 years ahead lies in the past (RFC 9110, section 5.6.7). */
function fullYear(year: number, nowMs: number): number {
  if (year > 99) return year;
  const thisYear = new Date(nowMs).getUTCFullYear();
  const guess = thisYear - (thisYear % 100) + year;
  return guess > thisYear + 50 ? guess - 100 : guess;
}
