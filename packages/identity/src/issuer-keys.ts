import { readFile, stat } from 'node:fs/promises';
import type * as Jose from 'jose';
import { IssuerUnavailableError, TokenError } from './token-error.ts';
import { isSecureAddress, issuerName, type TrustedIssuer } from './trusted-issuer.ts';

/** Age from which keys are read again, in milliseconds. */
const freshMs = 10 * 60_000;

/** Age up to which keys are accepted while the issuer does not respond, in milliseconds. */
const acceptedMs = 24 * 3_600_000;

/** Shortest time between two requests for keys, in milliseconds: tokens with unknown keys cost an issuer no more. */
const betweenMs = 30_000;

/** Shortest time between two requests while no key is known, in milliseconds. */
const betweenFirstMs = 5000;

/** Time limit of a request to an issuer, in milliseconds. */
const timeoutMs = 5000;

/** Maximum size of a response of an issuer, in bytes. */
const maxBytes = 1_000_000;

/** The header of a token, as far as it selects a key. */
export interface KeyHeader {
  readonly alg: string;
  readonly kid?: string;
}

/** Parts of {@link IssuerKeys}. */
export interface IssuerKeysParts {
  readonly jose: typeof Jose;
  readonly fetch: typeof fetch;
  /** Current time, in Unix milliseconds. */
  readonly now: () => number;
}

type FindKey = ReturnType<typeof Jose.createLocalJWKSet>;

/**
 * The keys of an issuer. They are read when the first token arrives, again after ten minutes, and when a token names an
 * unknown key, at most twice a minute. While the issuer does not respond, its last keys are accepted for a day.
 */
export class IssuerKeys {
  readonly #issuer: TrustedIssuer;
  readonly #parts: IssuerKeysParts;
  #find: FindKey | undefined;
  #readAtMs = Number.NEGATIVE_INFINITY;
  #triedAtMs = Number.NEGATIVE_INFINITY;
  #fileState: string | undefined;
  /** Reason why the last request failed. */
  #failure: string | undefined;
  #reading: Promise<void> | undefined;

  constructor(issuer: TrustedIssuer, parts: IssuerKeysParts) {
    this.#issuer = issuer;
    this.#parts = parts;
  }

  /**
   * Returns the key of a token.
   *
   * @throws TokenError if the issuer has no such key; IssuerUnavailableError if its keys cannot be read.
   */
  async keyOf(header: KeyHeader): Promise<Jose.CryptoKey> {
    const age = this.#parts.now() - this.#readAtMs;
    if (this.#issuer.jwksFile !== undefined) await this.#refresh(0);
    else if (this.#find === undefined || age > acceptedMs) await this.#refresh(betweenFirstMs);
    // Known keys need not wait for the issuer.
    else if (age > freshMs) void this.#refresh(betweenMs);
    const key = await this.#known(header);
    if (key) return key;
    await this.#refresh(betweenMs);
    const rotated = await this.#known(header);
    if (rotated) return rotated;
    // The issuer may have published the key in the meantime.
    if (this.#failure !== undefined) throw this.#unavailable(this.#failure);
    throw new TokenError(
      'key',
      header.kid === undefined
        ? 'it names no key ("kid"), and its issuer has several; let the issuer set "kid"'
        : 'it is signed with a key that its issuer does not publish',
    );
  }

  async #known(header: KeyHeader): Promise<Jose.CryptoKey | undefined> {
    const { now, jose } = this.#parts;
    if (this.#find === undefined || now() - this.#readAtMs > acceptedMs) {
      throw this.#unavailable(this.#failure ?? 'its keys are too old');
    }
    try {
      return (await this.#find(header as Jose.JWTHeaderParameters)) as Jose.CryptoKey;
    } catch (error) {
      const { JWKSMultipleMatchingKeys, JWKSNoMatchingKey } = jose.errors;
      if (error instanceof JWKSNoMatchingKey || error instanceof JWKSMultipleMatchingKeys) return undefined;
      // A key that the platform cannot import, such as one with a point that is not on the curve.
      throw new TokenError('key', 'it is signed with a key of its issuer that is not valid');
    }
  }

  #unavailable(reason: string): IssuerUnavailableError {
    const retryMs = Math.max(1000, this.#triedAtMs + betweenFirstMs - this.#parts.now());
    return new IssuerUnavailableError(issuerName(this.#issuer), reason, Math.ceil(retryMs / 1000));
  }

  /** Reads the keys, unless that was tried moments ago. Concurrent callers share one request. Never rejects. */
  #refresh(pauseMs: number): Promise<void> {
    const { now } = this.#parts;
    if (this.#reading) return this.#reading;
    if (now() - this.#triedAtMs < pauseMs) return Promise.resolve();
    this.#triedAtMs = now();
    this.#reading = this.#read()
      .then(
        () => {
          this.#failure = undefined;
        },
        (error: unknown) => {
          this.#failure = reasonOf(error);
        },
      )
      .finally(() => {
        this.#reading = undefined;
      });
    return this.#reading;
  }

  async #read(): Promise<void> {
    const { jwksFile } = this.#issuer;
    if (jwksFile === undefined) {
      this.#accept(await this.#json(this.#issuer.jwksUrl ?? (await this.#discoveredUrl())));
      return;
    }
    const { mtimeMs, size, ino } = await stat(jwksFile);
    const state = `${mtimeMs} ${size} ${ino}`;
    if (state !== this.#fileState) this.#accept(JSON.parse(await readFile(jwksFile, 'utf8')));
    this.#fileState = state;
    this.#readAtMs = this.#parts.now();
  }

  #accept(value: unknown): void {
    const { keys } = (value ?? {}) as { readonly keys?: unknown };
    if (!Array.isArray(keys)) throw new ReasonError('the response has no list "keys"');
    this.#find = this.#parts.jose.createLocalJWKSet({ keys: keys.flatMap(publicSigningKey) });
    this.#readAtMs = this.#parts.now();
  }

  /** Returns the address of the keys in the metadata of the issuer. */
  async #discoveredUrl(): Promise<string> {
    const issuer = this.#issuer.issuer as string;
    const { origin, pathname } = new URL(issuer);
    const path = pathname.replace(/\/$/, '');
    const openId = `${origin}${path}/.well-known/openid-configuration`;
    const oauth = `${origin}/.well-known/oauth-authorization-server${path}`;
    const metadata = await this.#json(openId).catch((error: unknown) => {
      if (error instanceof StatusError && error.status === 404) return this.#json(oauth);
      throw error;
    });
    const { issuer: named, jwks_uri: url } = (metadata ?? {}) as Record<string, unknown>;
    if (named !== issuer) throw new ReasonError('its metadata names another issuer');
    if (typeof url !== 'string' || !isSecureAddress(url))
      throw new ReasonError('its metadata names no https "jwks_uri"');
    return url;
  }

  async #json(url: string): Promise<unknown> {
    const response = await this.#parts.fetch(url, {
      headers: { accept: 'application/json' },
      redirect: 'error',
      signal: AbortSignal.timeout(timeoutMs),
    });
    if (!response.ok) {
      await response.body?.cancel();
      throw new StatusError(response.status);
    }
    const chunks: Uint8Array[] = [];
    let size = 0;
    for await (const chunk of response.body ?? []) {
      size += chunk.length;
      if (size > maxBytes) throw new ReasonError(`a response is larger than ${maxBytes} bytes`);
      chunks.push(chunk);
    }
    return JSON.parse(Buffer.concat(chunks).toString('utf8')) as unknown;
  }
}

/** Error with a reason that may be shown. */
class ReasonError extends Error {}

class StatusError extends ReasonError {
  readonly status: number;

  constructor(status: number) {
    super(`it responded with status ${status}`);
    this.status = status;
  }
}

/** Returns the reason of a failed request, without addresses and contents. */
function reasonOf(error: unknown): string {
  if (error instanceof ReasonError) return error.message;
  if (error instanceof SyntaxError) return 'the response is no JSON';
  const { name, code, cause } = error as { name?: unknown; code?: unknown; cause?: { code?: unknown } };
  const reason = cause?.code ?? (typeof code === 'string' ? code : name);
  return String(reason)
    .replaceAll(/[^\w.-]/g, '')
    .slice(0, 100);
}

/**
 * Returns a key of a JWKS in a list, without the members that the library would misread: SPIFFE bundles have the use
 * `jwt-svid`. Empty for keys that sign no tokens, and for secrets.
 */
function publicSigningKey(key: unknown): Jose.JWK[] {
  const { use, ...jwk } = (key ?? {}) as Jose.JWK;
  if (!['RSA', 'EC', 'OKP'].includes(String(jwk.kty))) return [];
  if (use !== undefined && use !== 'sig' && use !== 'jwt-svid') return [];
  const { d: _d, p: _p, q: _q, dp: _dp, dq: _dq, qi: _qi, key_ops: _operations, ...rest } = jwk;
  return [rest];
}
