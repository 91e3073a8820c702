import { describe, expect, it } from 'vitest';
import { ActlogError, APIConnectionError, APITimeoutError, brandError } from './actlog-error.ts';
import { APIError, RateLimitError } from './api-error.ts';

/** Returns an error whose classes come from another copy of this package. */
function otherCopy() {
  class Base extends Error {}
  class Other extends Base {}
  brandError(Base, 'APIError');
  brandError(Other, 'RateLimitError');
  return new Other('from another copy');
}

describe('errors', () => {
  it('are distinguished by class', () => {
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

  it('of another copy of the package are recognized', () => {
    expect(otherCopy()).toBeInstanceOf(RateLimitError);
    expect(otherCopy()).toBeInstanceOf(APIError);
    expect(otherCopy()).not.toBeInstanceOf(ActlogError); // the other copy's classes lack the brand of the base class
  });

  it('of a user-defined subclass are recognized as usual', () => {
    class Mine extends APIError {}
    const base = new APIError('', 'X', { status: 400 });
    expect(base).not.toBeInstanceOf(Mine);
    expect(new Mine('', 'X', { status: 400 })).toBeInstanceOf(Mine);
    expect(new Mine('', 'X', { status: 400 })).toBeInstanceOf(APIError);
  });

  it('print only the fields that have a value', () => {
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
