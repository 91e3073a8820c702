import { hash } from 'node:crypto';
import type * as OpenidClient from 'openid-client';

/** Error thrown when the authorization server of the upstream gives no token for a user. */
export class TokenExchangeError extends Error {
  override readonly name = 'TokenExchangeError';
  /** `true` if the server refused; `false` if it could not be reached or its response cannot be used. */
  readonly isRefusal: boolean;

  constructor(message: string, isRefusal: boolean) {
    super(message);
    this.isRefusal = isRefusal;
  }
}

/** Maximum number of tokens that are kept, by the SHA-256 of the user's token. */
const maxTokens = 10_000;

/** Time before its end from which a token is not used any more, in milliseconds. */
const earlyMs = 30_000;

/** Time for which a token without an end is kept, in milliseconds. */
const unknownMs = 60_000;

const grantType = 'urn:ietf:params:oauth:grant-type:token-exchange';
const accessTokenType = 'urn:ietf:params:oauth:token-type:access_token';

/** Settings of the exchange. */
export interface TokenExchangeSettings {
  /** Authorization server of the upstream. */
  readonly issuer: string;
  /** Id of the gateway at that server. */
  readonly clientId: string;
  /** Address of the upstream as that server knows it. Default: the upstream's. */
  readonly resource?: string | undefined;
  readonly audience?: string | undefined;
  readonly scope?: string | undefined;
}

/** Options of {@link TokenExchange}. */
export interface TokenExchangeOptions {
  readonly settings: TokenExchangeSettings;
  /** Secret of the gateway at the authorization server; undefined for a public client. */
  readonly clientSecret: string | undefined;
  /** Address of the upstream. */
  readonly upstream: URL;
}

/**
 * Exchanges the tokens of users for tokens of the upstream (RFC 8693), because a token for the gateway must not be passed on
 * (Model Context Protocol, "Authorization", "Access Token Privilege Restriction").
 */
export class TokenExchange {
  readonly #options: TokenExchangeOptions;
  readonly #tokens = new Map<string, { readonly token: Promise<string>; endMs: number }>();
  #configuration:
    | Promise<{ readonly client: typeof OpenidClient; readonly server: OpenidClient.Configuration }>
    | undefined;

  constructor(options: TokenExchangeOptions) {
    this.#options = options;
  }

  /**
   * Returns the upstream's token for the user of a token.
   *
   * @throws TokenExchangeError
   */
  async tokenFor(userToken: string): Promise<string> {
    const key = hash('sha256', userToken);
    const known = this.#tokens.get(key);
    if (known && Date.now() < known.endMs) return known.token;
    const exchanged = this.#exchange(userToken);
    const entry = { token: exchanged.then(({ token }) => token), endMs: Number.POSITIVE_INFINITY };
    entry.token.catch(() => {}); // the failure is thrown below
    this.#tokens.delete(key);
    const [oldest] = this.#tokens.keys();
    if (this.#tokens.size >= maxTokens && oldest !== undefined) this.#tokens.delete(oldest);
    this.#tokens.set(key, entry);
    try {
      entry.endMs = (await exchanged).endMs;
    } catch (error) {
      if (this.#tokens.get(key) === entry) this.#tokens.delete(key);
      throw error;
    }
    return entry.token;
  }

  /** Forgets the token for a user's token, because the upstream does not accept it. */
  forget(userToken: string): void {
    this.#tokens.delete(hash('sha256', userToken));
  }

  async #exchange(userToken: string): Promise<{ readonly token: string; readonly endMs: number }> {
    const { settings, upstream } = this.#options;
    try {
      const { client, server } = await this.#configured();
      const response = await client.genericGrantRequest(server, grantType, {
        subject_token: userToken,
        subject_token_type: accessTokenType,
        requested_token_type: accessTokenType,
        resource: settings.resource ?? `${upstream.origin}${upstream.pathname}`,
        ...(settings.audience !== undefined && { audience: settings.audience }),
        ...(settings.scope !== undefined && { scope: settings.scope }),
      });
      const { access_token: token, token_type: type } = response;
      if (type.toLowerCase() !== 'bearer') throw new Error(`The token type is ${type}.`);
      if (token === userToken) throw new Error('It returned the token of the user.');
      const seconds = response.expiresIn();
      return { token, endMs: Date.now() + (seconds === undefined ? unknownMs : seconds * 1000 - earlyMs) };
    } catch (error) {
      // Other parts of the error can contain the request.
      const { error: code, status } = error as { readonly error?: unknown; readonly status?: unknown };
      const isRefusal = typeof code === 'string' && Number(status) < 500;
      const reason = isRefusal && /^[\w.-]{1,60}$/.test(code) ? ` (${code})` : '';
      throw new TokenExchangeError(
        isRefusal
          ? `The authorization server of the MCP server gives the caller no token${reason}.`
          : 'The authorization server of the MCP server could not be reached, or its response cannot be used.',
        isRefusal,
      );
    }
  }

  async #configured() {
    this.#configuration ??= this.#discover();
    try {
      return await this.#configuration;
    } catch (error) {
      this.#configuration = undefined;
      throw error;
    }
  }

  async #discover() {
    const { settings, clientSecret } = this.#options;
    const client = await import('openid-client');
    const issuer = new URL(settings.issuer);
    const isLoopback = ['localhost', '127.0.0.1', '[::1]'].includes(issuer.hostname);
    const authentication =
      clientSecret === undefined ? client.None() : client.ClientSecretBasic(clientSecret);
    const server = await client.discovery(issuer, settings.clientId, undefined, authentication, {
      execute: isLoopback ? [client.allowInsecureRequests] : [],
    });
    return { client, server };
  }
}
