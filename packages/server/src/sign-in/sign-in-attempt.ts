import type { DeploymentSecret } from '../keys/deployment-secret.ts';

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
