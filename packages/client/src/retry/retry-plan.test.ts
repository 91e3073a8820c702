import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { APIConnectionError, APITimeoutError, ResponseShapeError } from '../errors/actlog-error.ts';
import { APIError } from '../errors/api-error.ts';
import { retryDelayMs } from '../request/call-run.ts';

const rules = { repeatable: true, maxRetryAfterMs: 120_000 };
const once = { ...rules, repeatable: false };
const response = (status: number, retryAfterMs?: number) => new APIError('', '', { status, retryAfterMs });

describe('retryDelayMs', () => {
  it('retries 429, 502, 503 and 504, and no other status', () => {
    for (let status = 300; status < 600; status += 1) {
      const repeated = [429, 502, 503, 504].includes(status);
      expect(retryDelayMs(response(status), once, 1, 0.5), String(status)).toBe(repeated ? 250 : undefined);
      expect(retryDelayMs(response(status, 7), once, 1, 0.5), String(status)).toBe(repeated ? 7 : undefined);
    }
  });

  it('follows Retry-After exactly up to the limit, and gives up beyond it', () => {
    fc.assert(
      fc.property(
        fc.nat(2 ** 31 - 1),
        fc.nat(2 ** 31 - 1),
        fc.integer({ min: 1, max: 50 }),
        (asked, most, retry) => {
          const delayMs = retryDelayMs(response(429, asked), { ...rules, maxRetryAfterMs: most }, retry, 0.9);
          expect(delayMs).toBe(asked <= most ? asked : undefined);
        },
      ),
    );
  });

  it('retries a broken connection if nothing was sent or repeating is harmless', () => {
    for (const ErrorClass of [APIConnectionError, APITimeoutError]) {
      const lost = new ErrorClass('', { maybeSent: true });
      const unsent = new ErrorClass('', { maybeSent: false });
      expect(retryDelayMs(lost, rules, 1, 0.5)).toBe(250);
      expect(retryDelayMs(lost, once, 1, 0.5)).toBeUndefined();
      expect(retryDelayMs(unsent, once, 1, 0.5)).toBe(250);
    }
  });

  it('retries nothing else', () => {
    const untrusted = new APIConnectionError('', { maybeSent: false }, 'TLS_FAILED');
    for (const error of [untrusted, new ResponseShapeError(''), new Error('x'), 'x', undefined]) {
      expect(retryDelayMs(error, rules, 1, 0.5)).toBeUndefined();
    }
  });

  it('backs off within a bound that doubles up to eight seconds', () => {
    const chance = fc.double({ min: 0, max: 1, maxExcluded: true, noNaN: true });
    fc.assert(
      fc.property(fc.integer({ min: 1, max: 2_000 }), chance, (retry, random) => {
        const delayMs = retryDelayMs(response(503), rules, retry, random) ?? -1;
        expect(Number.isInteger(delayMs)).toBe(true);
        expect(delayMs).toBeGreaterThanOrEqual(0);
        expect(delayMs).toBeLessThan(Math.min(8_000, 500 * 2 ** (retry - 1)));
      }),
    );
  });
});
