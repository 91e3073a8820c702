import { IssuerUnavailableError, TokenError, TokenVerifier, type TrustedIssuer } from '@actlog/identity';
import { type CallerIdentity, headers } from '@actlog/protocol';
import { ApiError } from '../lib/api-error.ts';
import { otherAgent } from './key-ring.ts';

/** A caller that sent a token. */
export interface VerifiedCaller {
  readonly identity: CallerIdentity;
  /** The person or system that the agent acts for; `undefined` if the token names none. */
  readonly principal: string | undefined;
}

/**
 * Verifies who sends a request, beyond its key: the token of a configured issuer in the header `x-actlog-identity`. The
 * token is neither kept nor shown.
 */
export class VerifiedCallers {
  readonly #verifier: TokenVerifier | undefined;

  constructor(issuers: readonly TrustedIssuer[]) {
    this.#verifier = issuers.length === 0 ? undefined : new TokenVerifier(issuers);
  }

  /**
   * Returns the verified caller of a request, or `undefined` if it has no token, or if no issuers are configured.
   *
   * @param token - value of the header; `undefined` if the request has none
   * @param isRequired - `true` to refuse a request that no token verifies
   * @param agentIds - agents that the request acts as
   * @throws ApiError `AUTHENTICATION_FAILED` when the token is missing but required, or not valid; `PERMISSION_DENIED`
   *   when it verifies another agent, or none but is required; `OVERLOADED` while the issuer's keys cannot be read.
   */
  async of(
    token: string | undefined,
    isRequired: boolean,
    agentIds: Iterable<string>,
  ): Promise<VerifiedCaller | undefined> {
    if (this.#verifier === undefined) {
      if (!isRequired) return undefined;
      throw new ApiError(
        'PERMISSION_DENIED',
        'The API key requires verified callers, but the server has no issuers. Let its operator set ACTLOG_IDENTITY_ISSUERS.',
      );
    }
    if (token === undefined) {
      if (!isRequired) return undefined;
      throw refusedToken('A token of a configured issuer is required. Send it with each request.');
    }
    const { issuer, subject, agents, principal } = await verified(this.#verifier, token);
    const agentVerified = agents.length > 0;
    if (!agentVerified && isRequired) {
      throw new ApiError(
        'PERMISSION_DENIED',
        `The token in ${headers.identity} names no agent, but a verified agent is required. Use a token of an issuer with agents.`,
      );
    }
    for (const agentId of agentVerified ? agentIds : []) {
      if (agents.some((agent) => agent.matches(agentId))) continue;
      const named = agents.map(({ pattern }) => JSON.stringify(pattern)).join(', ');
      throw new ApiError(
        'PERMISSION_DENIED',
        `The token in ${headers.identity} verifies the agent ${named}, not ${JSON.stringify(agentId)}. Send the token of that agent.`,
        { details: [otherAgent] },
      );
    }
    const principalVerified = principal !== undefined;
    return { identity: { issuer, subject, agentVerified, principalVerified }, principal };
  }
}

async function verified(verifier: TokenVerifier, token: string) {
  try {
    return await verifier.verify(token);
  } catch (error) {
    if (error instanceof TokenError) throw refusedToken(`The token was refused: ${error.message}.`);
    if (!(error instanceof IssuerUnavailableError)) throw error;
    throw new ApiError('OVERLOADED', `${error.message} Send the request again later.`, {
      retryAfterSeconds: error.retryAfterSeconds,
    });
  }
}

function refusedToken(problem: string): ApiError {
  return new ApiError('AUTHENTICATION_FAILED', `${headers.identity}: ${problem}`, {
    headers: { 'www-authenticate': 'Bearer error="invalid_token"' },
    details: [{ path: headers.identity, code: 'invalid_token', message: problem }],
  });
}
