import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { parseHttpDate } from './retry-after.ts';

const now = Date.UTC(2026, 5, 1);

describe('parseHttpDate', () => {
  it('parses the output of toUTCString, to the second', () => {
    const date = fc.date({ min: new Date('0100-01-01'), max: new Date('9999-12-31'), noInvalidDate: true });
    fc.assert(
      fc.property(date, (value) => {
        const seconds = Math.floor(value.getTime() / 1000) * 1000;
        expect(parseHttpDate(new Date(seconds).toUTCString(), now)).toBe(seconds);
      }),
    );
  });

  it('places a two-digit year at most fifty years ahead (RFC 9110, section 5.6.7)', () => {
    expect(parseHttpDate('Sunday, 06-Nov-94 08:49:37 GMT', now)).toBe(Date.UTC(1994, 10, 6, 8, 49, 37));
    expect(parseHttpDate('Sunday, 06-Nov-76 08:49:37 GMT', now)).toBe(Date.UTC(2076, 10, 6, 8, 49, 37));
    expect(parseHttpDate('Sunday, 06-Nov-77 08:49:37 GMT', now)).toBe(Date.UTC(1977, 10, 6, 8, 49, 37));
  });
});
