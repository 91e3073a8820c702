import type { DeploymentSecret } from '../tenants/deployment-secret.ts';

/**
 * Kind of a sign-in that failed: `unavailable` if the provider cannot be reached or refuses this server, `stale` for a way
 * back that this browser did not begin moments ago, `declined` by the person or the provider, `rejected` for a code or a
 * token that is not valid, `no_role` for a person without access, `limited` for too many failures.
 */
export type SignInFailure = 'unavailable' | 'stale' | 'declined' | 'rejected' | 'no_role' | 'limited';

/** Error thrown when a person cannot sign in. It contains nothing of a token or a claim, except the name for its page. */
export class SignInError extends Error {
  override readonly name = 'SignInError';
  readonly failure: SignInFailure;
  /** Code of the cause for the log, such as `invalid_grant`. */
  readonly reason: string;
  /** Name of the person without a role. */
  readonly person: string | undefined;

  constructor(failure: SignInFailure, reason: string, person?: string) {
    super(`The sign-in failed: ${failure} (${reason}).`);
    this.failure = failure;
    this.reason = reason;
    this.person = person;
  }
}

/** A sign-in that a browser has begun and not yet completed. */
export interface SignInAttempt {
  /** Value that the provider must return, so that no other site can complete the sign-in. */
  readonly state: string;
  /** Value that the ID token must contain, so that no other token can be used. */
  readonly nonce: string;
  /** PKCE code verifier (RFC 7636), so that no other client can use the code. */
  readonly codeVerifier: string;
  /** Place of the console to return to. */
  readonly place: string;
  /** Time from which it is not accepted, in Unix milliseconds. */
  readonly untilMs: number;
}

/** Time that a person has to sign in at the provider, in milliseconds. */
export const attemptLifetimeMs = 15 * 60_000;

const context = 'sign-in attempt';

/** Returns the value of a cookie that keeps an attempt: encrypted, so that any process can complete it. */
export function sealAttempt(secret: DeploymentSecret, attempt: SignInAttempt): string {
  return secret.encrypt(JSON.stringify(attempt), context);
}

/** Returns the attempt in a cookie, or `undefined` if it was altered, is too old, or is from another deployment. */
export function openAttempt(secret: DeploymentSecret, sealed: string | undefined): SignInAttempt | undefined {
  if (sealed === undefined) return undefined;
  try {
    const attempt = JSON.parse(secret.decrypt(sealed, context)) as SignInAttempt;
    return attempt.untilMs > Date.now() ? attempt : undefined;
  } catch {
    return undefined;
  }
}
