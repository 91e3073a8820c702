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
