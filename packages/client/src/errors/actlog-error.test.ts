import { describe, expect, it } from 'vitest';
import { ActlogError, brandError } from './actlog-error.ts';
import { APIConnectionError } from './api-connection-error.ts';
import { APIError } from './api-error.ts';
import { APITimeoutError } from './api-timeout-error.ts';
import { RateLimitError } from './rate-limit-error.ts';

/** The same class as another copy of this package would have it. */
function otherCopy() {
  class Base extends Error {}
  class Other extends Base {}
  brandError(Base, 'APIError');
  brandError(Other, 'RateLimitError');
  return new Other('from another copy');
}

describe('errors', () => {
  it('are told apart by class', () => {
    const error = new RateLimitError('slow down', 'RATE_LIMITED', { status: 429, retryAfterMs: 5 });
    expect(error).toBeInstanceOf(Error);
    expect(error).toBeInstanceOf(ActlogError);
    expect(error).toBeInstanceOf(APIError);
    expect(error).toBeInstanceOf(RateLimitError);
    expect(error).not.toBeInstanceOf(APIConnectionError);
    expect(new APITimeoutError('', { maybeSent: true })).toBeInstanceOf(APIConnectionError);
    expect(new APIConnectionError('', { maybeSent: true })).not.toBeInstanceOf(APITimeoutError);
    for (const value of [undefined, null, 'x', {}, new Error('x')])
      expect(value).not.toBeInstanceOf(ActlogError);
  });

  it('of another copy of the package are recognised', () => {
    expect(otherCopy()).toBeInstanceOf(RateLimitError);
    expect(otherCopy()).toBeInstanceOf(APIError);
    expect(otherCopy()).not.toBeInstanceOf(ActlogError); // that copy's classes do not say so
  });

  it('of your own subclass are recognised as usual', () => {
    class Mine extends APIError {}
    const base = new APIError('', 'X', { status: 400 });
    expect(base).not.toBeInstanceOf(Mine);
    expect(new Mine('', 'X', { status: 400 })).toBeInstanceOf(Mine);
    expect(new Mine('', 'X', { status: 400 })).toBeInstanceOf(APIError);
  });

  it('show only what is known', () => {
    const error = new APIError('m', 'X', {
      status: 400,
      method: 'GET',
      details: ['secret'],
      headers: new Headers(),
    });
    expect({ ...error }).toEqual({ code: 'X', status: 400, method: 'GET' });
    expect(error.details).toEqual(['secret']);
    expect(String(error)).toBe('APIError: m');
  });
});
