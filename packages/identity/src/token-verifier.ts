import { hash } from 'node:crypto';
import { repeatedMember } from '@actlog/protocol';
import type * as Jose from 'jose';
import { AgentPatterns, type VerifiedAgent } from './agent-pattern.ts';
import { type Claims, claimAt, isEmailVerified } from './claims.ts';
import { IssuerKeys } from './issuer-keys.ts';
import { TokenError } from './token-error.ts';
import { issuerName, type TrustedIssuer } from './trusted-issuer.ts';

/** Maximum length of a token, in characters. */
const maxTokenLength = 8192;

/** Time for which a verified token is not verified again, in milliseconds. */
const rememberedMs = 60_000;

/** Maximum number of tokens that are remembered, by their SHA-256. */
const maxRemembered = 10_000;

/** Headers with keys, or with the addresses of keys: only the configuration says which keys are trusted. */
const keyHeaders = ['jku', 'jwk', 'x5u', 'x5c'] as const;

/** Types of tokens: plain JWTs, access tokens (RFC 9068), and JWT-SVIDs, which may say `JOSE`. */
const types: ReadonlySet<string> = new Set(['jwt', 'jose', 'at+jwt']);

/** A token that an issuer has signed for this audience. */
export interface VerifiedToken {
  /** The issuer as it is configured; `spiffe://…` for a trust domain. */
  readonly issuer: string;
  /** The claim `sub`. */
  readonly subject: string;
  /** Agents that the token verifies; empty if the issuer has no `agents`. */
  readonly agents: readonly VerifiedAgent[];
  /** The person or system that the agent acts for; `undefined` if the token names none. */
  readonly principal: string | undefined;
  /** Time from which the token is not accepted, in Unix milliseconds. */
  readonly expiresAtMs: number;
  /** All claims. */
  readonly claims: Claims;
}

/** Options for a {@link TokenVerifier}. */
export interface TokenVerifierOptions {
  /** Sends requests for keys. Default: `fetch` of the platform. */
  readonly fetch?: typeof fetch;
  /** Current time, in Unix milliseconds. Default: `Date.now`. */
  readonly now?: () => number;
}

/**
 * Verifies tokens of configured issuers: signed JWTs (RFC 7519), access tokens (RFC 9068) and JWT-SVIDs. Only issuers,
 * keys and algorithms of the configuration count, whatever a token says.
 */
export class TokenVerifier {
  readonly #issuers: readonly TrustedIssuer[];
  readonly #fetch: typeof fetch;
  readonly #now: () => number;
  readonly #keys = new Map<TrustedIssuer, IssuerKeys>();
  readonly #patterns = new Map<TrustedIssuer, AgentPatterns>();
  readonly #remembered = new Map<string, { readonly token: VerifiedToken; readonly untilMs: number }>();
  #jose: Promise<typeof Jose> | undefined;

  constructor(issuers: readonly TrustedIssuer[], options: TokenVerifierOptions = {}) {
    this.#issuers = issuers;
    this.#fetch = options.fetch ?? ((...request) => fetch(...request));
    this.#now = options.now ?? Date.now;
  }

  /**
   * Verifies a token.
   *
   * @throws TokenError if it is not accepted; IssuerUnavailableError if the keys of its issuer cannot be read.
   */
  async verify(token: string): Promise<VerifiedToken> {
    if (token.length > maxTokenLength) {
      throw new TokenError('malformed', `it is longer than ${maxTokenLength} characters`);
    }
    const digest = hash('sha256', token, 'base64');
    const known = this.#remembered.get(digest);
    if (known && this.#now() < known.untilMs) return known.token;
    const verified = await this.#verified(token);
    const untilMs = Math.min(verified.expiresAtMs, this.#now() + rememberedMs);
    this.#remembered.delete(digest);
    const [oldest] = this.#remembered.keys();
    if (this.#remembered.size >= maxRemembered && oldest !== undefined) this.#remembered.delete(oldest);
    this.#remembered.set(digest, { token: verified, untilMs });
    return verified;
  }

  async #verified(token: string): Promise<VerifiedToken> {
    const parts = token.split('.');
    if (parts.length !== 3) throw malformed('is no signed JWT of three parts');
    const [headerPart, claimsPart, signature] = parts as [string, string, string];
    const header = parsedPart('header', headerPart);
    requireHeader(header, signature);
    const claims = parsedPart('claims', claimsPart);
    const issuer = this.#issuerOf(claims);
    const { algorithms } = issuer;
    const alg = header.alg as string;
    if (!(algorithms as readonly string[]).includes(alg)) {
      throw new TokenError('algorithm', `it is signed with another algorithm than ${algorithms.join(', ')}`);
    }
    this.#jose ??= import('jose');
    const jose = await this.#jose;
    const kid = header.kid;
    const key = await this.#keysOf(issuer, jose).keyOf({ alg, ...(typeof kid === 'string' && { kid }) });
    try {
      await jose.compactVerify(token, key, { algorithms: [alg] });
    } catch {
      throw new TokenError('signature', 'its signature is not valid');
    }
    return this.#accepted(issuer, claims);
  }

  /** Returns the issuer of claims that are not verified yet. It only selects the keys. */
  #issuerOf(claims: Claims): TrustedIssuer {
    const { iss, sub } = claims;
    const byIssuer = this.#issuers.find(({ issuer }) => issuer !== undefined && issuer === iss);
    const found =
      byIssuer ??
      this.#issuers.find(
        ({ trustDomain }) => trustDomain !== undefined && String(sub).startsWith(`spiffe://${trustDomain}/`),
      );
    if (!found) throw new TokenError('issuer', 'its issuer ("iss") is none of the configured ones');
    return found;
  }

  #keysOf(issuer: TrustedIssuer, jose: typeof Jose): IssuerKeys {
    const known = this.#keys.get(issuer);
    if (known) return known;
    const keys = new IssuerKeys(issuer, { jose, fetch: this.#fetch, now: this.#now });
    this.#keys.set(issuer, keys);
    return keys;
  }

  #accepted(issuer: TrustedIssuer, claims: Claims): VerifiedToken {
    const expiresAtMs = requireTimes(issuer, claims, this.#now());
    requireAudience(issuer, claims);
    const subject = nameAt(claims, 'sub');
    if (subject === undefined || subject !== claims.sub) {
      throw new TokenError('subject', 'it has no subject ("sub") of 1 to 500 characters on one line');
    }
    if (issuer.trustDomain !== undefined && !isSpiffeId(subject)) {
      throw new TokenError('subject', 'its subject ("sub") is no SPIFFE id');
    }
    for (const [path, accepted] of Object.entries(issuer.claims)) {
      const value = claimAt(claims, path);
      const values: readonly unknown[] = Array.isArray(value) ? value : [value];
      if (!values.some((one) => (accepted as readonly unknown[]).includes(one))) {
        throw new TokenError(
          'claim',
          `its claim "${path}" is missing, or has another value than the configured ones`,
        );
      }
    }
    return {
      issuer: issuerName(issuer),
      subject,
      agents: this.#agentsOf(issuer, claims),
      principal: principalOf(issuer, claims),
      expiresAtMs,
      claims,
    };
  }

  #agentsOf(issuer: TrustedIssuer, claims: Claims): readonly VerifiedAgent[] {
    const patterns = this.#patterns.get(issuer) ?? new AgentPatterns(issuer.agents);
    this.#patterns.set(issuer, patterns);
    if (patterns.isEmpty) return [];
    const named = nameAt(claims, issuer.agentClaim);
    const agents = named === undefined ? [] : patterns.agentsOf(named);
    if (agents.length > 0) return agents;
    throw new TokenError('agent', `its claim "${issuer.agentClaim}" is none of the configured agents`);
  }
}

function malformed(problem: string): TokenError {
  return new TokenError('malformed', `it ${problem}`);
}

/** Returns a part of a token as an object. */
function parsedPart(name: 'header' | 'claims', part: string): Record<string, unknown> {
  // Node's decoder skips other characters, so that one token would have many texts.
  if (!/^[\w-]+$/.test(part)) throw malformed(`has a ${name} that is not base64url`);
  let text: string;
  let value: unknown;
  try {
    text = new TextDecoder('utf-8', { fatal: true }).decode(Buffer.from(part, 'base64url'));
    value = JSON.parse(text);
  } catch {
    throw malformed(`has a ${name} that is no JSON`);
  }
  if (typeof value !== 'object' || value === null || Array.isArray(value)) {
    throw malformed(`has a ${name} that is no JSON object`);
  }
  if (repeatedMember(text) !== undefined) {
    throw malformed(`has a ${name} with the same name twice, which programs may read in two ways`);
  }
  return value as Record<string, unknown>;
}

/** @throws TokenError for a header that would let the token say how it is verified. */
function requireHeader(header: Readonly<Record<string, unknown>>, signature: string): void {
  const { alg, typ, kid } = header;
  if (alg === 'none') throw new TokenError('algorithm', 'it is not signed ("alg" is "none")');
  if (typeof alg !== 'string') throw new TokenError('algorithm', 'it names no algorithm ("alg")');
  if (!/^[\w-]+$/.test(signature)) throw malformed('has no signature in base64url');
  const given = keyHeaders.find((name) => header[name] !== undefined);
  if (given !== undefined) {
    throw new TokenError(
      'forbidden_header',
      `its header has "${given}"; keys come from the configured issuers only`,
    );
  }
  if (header.crit !== undefined) {
    throw new TokenError(
      'forbidden_header',
      'its header requires an extension ("crit") that is not supported',
    );
  }
  if (kid !== undefined && (typeof kid !== 'string' || kid.length > 500)) {
    throw new TokenError('key', 'its key id ("kid") is no text of at most 500 characters');
  }
  const type = typeof typ === 'string' ? typ.toLowerCase().replace(/^application\//, '') : 'jwt';
  if (!types.has(type)) {
    throw new TokenError(
      'type',
      'it is a token of another kind ("typ"); send an access token or a workload token',
    );
  }
}

/** Checks the times of a token, and returns its end in Unix milliseconds. */
function requireTimes(
  { clockSkewSeconds, maxAgeSeconds }: TrustedIssuer,
  { exp, nbf, iat }: Claims,
  nowMs: number,
): number {
  const nowSeconds = nowMs / 1000;
  if (typeof exp !== 'number' || !Number.isFinite(exp)) {
    throw new TokenError('lifetime', 'it has no end ("exp"); let the issuer create tokens that expire');
  }
  if (exp + clockSkewSeconds <= nowSeconds) {
    throw new TokenError('expired', 'it has expired ("exp"); read a new token before each request');
  }
  for (const [name, time] of [['nbf', nbf] as const, ['iat', iat] as const]) {
    if (time === undefined) continue;
    if (typeof time !== 'number' || !Number.isFinite(time))
      throw malformed(`has a "${name}" that is no time`);
    if (time - clockSkewSeconds > nowSeconds) {
      throw new TokenError('not_yet_valid', `it is not valid yet ("${name}"); compare the clocks`);
    }
  }
  if (typeof iat !== 'number') return (exp + clockSkewSeconds) * 1000;
  const oldest = iat + maxAgeSeconds + clockSkewSeconds;
  if (oldest <= nowSeconds) {
    throw new TokenError(
      'lifetime',
      `it was issued more than ${maxAgeSeconds} seconds ago ("iat"); read a new token`,
    );
  }
  return Math.min(exp + clockSkewSeconds, oldest) * 1000;
}

function requireAudience({ audience }: TrustedIssuer, { aud }: Claims): void {
  const named: readonly unknown[] = Array.isArray(aud) ? aud : [aud];
  if (named.some((one) => typeof one === 'string' && audience.includes(one))) return;
  throw new TokenError(
    'audience',
    `it is not for this service ("aud"); request a token for ${audience.join(' or ')}`,
  );
}

/** `true` for a SPIFFE id with a path (https://github.com/spiffe/spiffe, SPIFFE-ID, section 2). */
function isSpiffeId(text: string): boolean {
  const [, path] = /^spiffe:\/\/[a-z0-9._-]+\/([\w./-]+)$/.exec(text) ?? [];
  return path?.split('/').every((part) => part !== '' && part !== '.' && part !== '..') ?? false;
}

function principalOf({ principalClaim }: TrustedIssuer, claims: Claims): string | undefined {
  if (principalClaim === undefined) return undefined;
  if (principalClaim === 'email' && !isEmailVerified(claims)) return undefined;
  return nameAt(claims, principalClaim);
}

/** Maximum length of a name that is kept, in characters. */
const maxNameLength = 500;

/** Returns a claim that fits on one line, such as the name of a principal; `undefined` if it is missing or does not. */
function nameAt(claims: Claims, path: string): string | undefined {
  const value = claimAt(claims, path);
  if (typeof value !== 'string') return undefined;
  const name = value.trim();
  return name.length <= maxNameLength && /^[^\p{Cc}\p{Cs}]+$/u.test(name) ? name : undefined;
}
