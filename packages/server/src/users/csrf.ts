import { createHmac, timingSafeEqual } from 'node:crypto';
import type { FastifyRequest } from 'fastify';
import type { DeploymentSecret } from '../keys/deployment-secret.ts';
import { ApiError } from '../lib/api-error.ts';

/** Header that contains the CSRF token. Another site cannot set it without the server's consent (CORS). */
export const csrfHeader = 'x-actlog-csrf';

/** Methods that change nothing (RFC 9110, section 9.2.1). */
const safeMethods: ReadonlySet<string> = new Set(['GET', 'HEAD', 'OPTIONS']);

/** Returns the CSRF token of a sign-in, or of a person whom a proxy names. */
export function csrfToken({ csrfKey }: DeploymentSecret, subject: string): string {
  return createHmac('sha256', csrfKey).update(subject).digest('base64url');
}

/**
 * Checks that a request that changes something comes from the console, not from another site that the person's browser
 * shows. The browser adds cookies to such requests as well.
 *
 * @param origin - origin of the server's public URL
 * @param token - the person's CSRF token
 * @throws ApiError `PERMISSION_DENIED`.
 */
export function requireOwnOrigin({ method, headers }: FastifyRequest, origin: string, token: string): void {
  if (safeMethods.has(method)) return;
  const site = headers['sec-fetch-site'];
  if (site !== undefined && site !== 'same-origin') {
    throw refused('sec-fetch-site', 'is another site; send the request from the console');
  }
  if (headers.origin !== undefined && headers.origin !== origin) {
    throw refused('origin', `is not that of the server; open the console at ${origin}`);
  }
  const given = Buffer.from(String(headers[csrfHeader] ?? ''));
  const expected = Buffer.from(token);
  if (given.length === expected.length && timingSafeEqual(given, expected)) return;
  throw refused(csrfHeader, 'must be the CSRF token of the sign-in; reload the console');
}

function refused(header: string, message: string): ApiError {
  return new ApiError('PERMISSION_DENIED', `The request was not sent by the console: ${header} ${message}.`, {
    details: [{ path: `headers.${header}`, code: 'csrf', message }],
  });
}
