/**
 * Problem of a token: `malformed` if it is no signed JWT, `forbidden_header` for a header that names keys or extensions,
 * `algorithm` if it is not signed with an accepted asymmetric algorithm, `type` if it is another kind of token, `issuer`
 * if its issuer is not configured, `key` if the issuer has no such key, `signature`, `audience`, `expired`, `not_yet_valid`,
 * `lifetime` if it has no end or is older than accepted, `subject` if it has no usable subject, `claim` if a required claim
 * has another value, `agent` if its subject is none of the configured agents.
 */
export type TokenProblem =
  | 'malformed'
  | 'forbidden_header'
  | 'algorithm'
  | 'type'
  | 'issuer'
  | 'key'
  | 'signature'
  | 'audience'
  | 'expired'
  | 'not_yet_valid'
  | 'lifetime'
  | 'subject'
  | 'claim'
  | 'agent';

/** Error thrown for a token that is not accepted. It contains no part of the token. */
export class TokenError extends Error {
  override readonly name = 'TokenError';
  readonly problem: TokenProblem;

  /** @param message - the problem and the fix, a clause that follows "the token": "it expired; …" */
  constructor(problem: TokenProblem, message: string) {
    super(message);
    this.problem = problem;
  }
}

/** Error thrown when the keys of an issuer cannot be read, and none that were read before are still accepted. */
export class IssuerUnavailableError extends Error {
  override readonly name = 'IssuerUnavailableError';
  readonly issuer: string;
  /** Time after which keys are requested again, in seconds. */
  readonly retryAfterSeconds: number;

  constructor(issuer: string, reason: string, retryAfterSeconds: number) {
    super(`The keys of the issuer ${issuer} could not be read: ${reason}.`);
    this.issuer = issuer;
    this.retryAfterSeconds = retryAfterSeconds;
  }
}
