export type { VerifiedAgent } from './agent-pattern.ts';
export { type Claims, claimAt, isEmailVerified } from './claims.ts';
export { IssuerUnavailableError, TokenError, type TokenProblem } from './token-error.ts';
export {
  TokenVerifier,
  type TokenVerifierOptions,
  type VerifiedToken,
} from './token-verifier.ts';
export { issuersSetting, type TrustedIssuer, type TrustedIssuerSettings } from './trusted-issuer.ts';
