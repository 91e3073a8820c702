import { inspect } from 'node:util';
import { describe, expect, it } from 'vitest';
import { Exchange } from '../transport/transport.ts';
import { connectionFailure } from './attempt-error.ts';

const request = { method: 'POST', path: '/v1/agents' };
const origin = 'https://actlog.example.com';

/** Converts an error, by default for a transport that cannot tell whether the request was sent. */
function failureOf(error: unknown, maybeSent = true, inferSentFromError = true) {
  const exchange = new Exchange(() => ({ write: () => {} }));
  exchange.maybeSent = maybeSent;
  exchange.inferSentFromError = inferSentFromError;
  return connectionFailure(error, exchange, request, 1, origin) as Error;
}

const coded = (code: string) => Object.assign(new Error('x'), { code });
const calling = (syscall: string, code: string) => Object.assign(coded(code), { syscall });
const fetchFailed = (cause: unknown) => new TypeError('fetch failed', { cause });

describe('connectionFailure', () => {
  it.each([
    ['a refused connection in Node', fetchFailed(coded('ECONNREFUSED'))],
    [
      'both addresses refused',
      fetchFailed(new AggregateError([coded('ECONNREFUSED'), coded('ECONNREFUSED')])),
    ],
    ['a name that does not resolve', fetchFailed(coded('ENOTFOUND'))],
    ['an unreachable host', fetchFailed(calling('connect', 'EHOSTUNREACH'))],
    ['a name unknown to the resolver', fetchFailed(calling('queryA', 'ENOTFOUND'))],
    ['a connection that takes too long in undici', coded('UND_ERR_CONNECT_TIMEOUT')],
    ['a refused connection in Bun', coded('ConnectionRefused')],
    [
      'a refused connection in Deno',
      new TypeError('client error (Connect): tcp connect error: Connection refused'),
    ],
    [
      'a refused connection in Deno, in its cause',
      fetchFailed(
        new Error('error sending request: client error (Connect): tcp connect error: os error 111'),
      ),
    ],
    [
      'a name that does not resolve in Deno',
      new TypeError('dns error: failed to lookup address information'),
    ],
  ])('reports that nothing was sent: %s', (_case, error) => {
    expect(failureOf(error)).toMatchObject({ name: 'APIConnectionError', maybeSent: false, cause: error });
  });

  it.each([
    ['a reset', fetchFailed(coded('ECONNRESET'))],
    ['a closed socket', coded('UND_ERR_SOCKET')],
    ['a route lost while reading', fetchFailed(calling('read', 'EHOSTUNREACH'))],
    ['a network lost while writing', fetchFailed(calling('write', 'ENETUNREACH'))],
    ['a value that is not an error', 'broken'],
    ['nothing at all', undefined],
  ])('reports that the request may have been sent: %s', (_case, error) => {
    expect(failureOf(error)).toMatchObject({ name: 'APIConnectionError', maybeSent: true });
    expect(failureOf(error, false)).toMatchObject({ name: 'APIConnectionError', maybeSent: false });
  });

  it('trusts a transport that knows more than the error', () => {
    for (const error of [calling('connect', 'EHOSTUNREACH'), coded('ENOTFOUND'), new Error('dns error')]) {
      expect(failureOf(error, true, false)).toMatchObject({ maybeSent: true });
      expect(failureOf(error, false, false)).toMatchObject({ maybeSent: false });
    }
    expect(failureOf(coded('ECONNREFUSED'), true, false)).toMatchObject({ maybeSent: false });
  });

  it.each([
    'DEPTH_ZERO_SELF_SIGNED_CERT',
    'CERT_HAS_EXPIRED',
    'UNABLE_TO_VERIFY_LEAF_SIGNATURE',
    'ERR_TLS_CERT_ALTNAME_INVALID',
  ])('reports an untrusted certificate: %s', (code) => {
    const error = failureOf(fetchFailed(coded(code)), false);
    expect(error).toMatchObject({ name: 'APIConnectionError', code: 'TLS_FAILED', maybeSent: false });
    expect(error.message).toMatch(/check baseURL and the certificate/);
  });

  it('names ALPN where the server speaks none of the offered protocols', () => {
    const error = failureOf(coded('ERR_SSL_TLSV1_ALERT_NO_APPLICATION_PROTOCOL'), false);
    expect(error).toMatchObject({ code: 'TLS_FAILED', maybeSent: false });
    expect(error.message).toMatch(/none of the offered protocols \(ALPN\)/);
    expect(error.message).not.toMatch(/certificate/);
  });

  it('names the address without a connection', () => {
    expect(failureOf(fetchFailed(coded('ECONNREFUSED')), false).message).toBe(
      'POST /v1/agents: no connection to https://actlog.example.com; the request was not sent (ECONNREFUSED).',
    );
  });

  it('removes the bytes from a parser error', () => {
    const error = Object.assign(coded('HPE_INVALID_CONSTANT'), { data: 'secret inside' });
    const failure = failureOf(error);
    expect(failure.name).toBe('ResponseShapeError');
    expect(inspect(failure, { depth: 9 })).not.toContain('secret inside');
    const nested = Object.assign(new Error('x'), { data: 'secret inside' });
    expect(inspect(failureOf(fetchFailed(nested)), { depth: 9 })).not.toContain('secret inside');
  });

  it('handles circular causes', () => {
    const circle: { cause?: unknown } = new Error('x');
    circle.cause = circle;
    expect(failureOf(circle)).toMatchObject({ name: 'APIConnectionError' });
  });
});
