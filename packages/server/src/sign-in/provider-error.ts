import { SignInError, type SignInFailure } from './sign-in-error.ts';

/** Errors of a token request that the person can fix by signing in again (RFC 6749, section 5.2). */
const rejectedCodes: ReadonlySet<string> = new Set(['invalid_grant']);

/** Codes of the library for a provider that does not respond, does not accept this server, or is not a provider. */
const unavailableCodes: ReadonlySet<string> = new Set([
  'OAUTH_TIMEOUT',
  'OAUTH_ABORT',
  'OAUTH_WWW_AUTHENTICATE_CHALLENGE',
  'OAUTH_RESPONSE_IS_NOT_CONFORM',
  'OAUTH_RESPONSE_IS_NOT_JSON',
  'OAUTH_PARSE_ERROR',
]);

/**
 * Returns the error of a failed exchange with the provider. Only codes are taken from the library's error, because its
 * cause can contain tokens and claims.
 *
 * @param fallback - failure if the codes say nothing else
 */
export function providerError(error: unknown, fallback: SignInFailure = 'rejected'): SignInError {
  if (error instanceof SignInError) return error;
  const { name, code, error: response, cause } = error as Partial<Record<string, unknown>>;
  if (typeof response === 'string') {
    if (name === 'AuthorizationResponseError') return new SignInError('declined', codeText(response));
    return new SignInError(rejectedCodes.has(response) ? 'rejected' : 'unavailable', codeText(response));
  }
  // `fetch` reports a failed connection as a TypeError whose cause has the code.
  const network = (cause as { code?: unknown } | undefined)?.code;
  if (error instanceof TypeError && code === undefined) {
    return new SignInError('unavailable', codeText(network ?? error.name));
  }
  const isUnavailable = typeof code === 'string' && unavailableCodes.has(code);
  return new SignInError(isUnavailable ? 'unavailable' : fallback, codeText(code ?? name));
}

/** Returns a code for the log, without anything that a provider could smuggle in. */
function codeText(code: unknown): string {
  return String(code)
    .replaceAll(/[^\w.-]/g, '')
    .slice(0, 100);
}
