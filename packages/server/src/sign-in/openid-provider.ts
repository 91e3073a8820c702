import { type Claims, claimAt, isEmailVerified } from '@actlog/identity';
import type * as OpenIdClient from 'openid-client';
import { singleLineName } from '../tenants/single-line-name.ts';
import type { SignInSettings } from '../users/sign-in-settings.ts';
import { type SignInAttempt, SignInError, type SignInFailure } from './sign-in-error.ts';

/** Claims with the name of a person, in order of preference. */
const nameClaims = ['email', 'preferred_username', 'sub'] as const;

/** Claim that people can set themselves at some providers. */
const emailClaim = 'email';

/**
 * Returns the groups in a claim: an array of texts, or a single text. An email address that is not verified is no group:
 * people could take the role of others by entering their address in a profile.
 */
export function groupsIn(claims: Claims, path: string): string[] {
  if (path === emailClaim && !isEmailVerified(claims)) return [];
  const value = claimAt(claims, path);
  const groups: readonly unknown[] = Array.isArray(value) ? value : [value];
  return groups.filter((group) => typeof group === 'string');
}

/**
 * Returns the name of a person.
 *
 * @param nameClaim - claim with the name; by default `email`, unless the provider says that it is not verified, then
 *   `preferred_username`. `sub` replaces a claim that is missing
 * @returns `undefined` if no claim has a name of 1 to 200 characters on one line.
 */
export function nameIn(claims: Claims, nameClaim: string | undefined): string | undefined {
  const candidates = nameClaim === undefined ? nameClaims : [nameClaim, 'sub'];
  for (const path of candidates) {
    // Otherwise people could take the name of others by entering their address in a profile.
    if (path === emailClaim && !isEmailVerified(claims)) continue;
    const { success, data } = singleLineName.safeParse(claimAt(claims, path));
    if (success && data.trim() !== '') return data.trim();
  }
  return undefined;
}

/** Time by which the clock of the provider may be ahead, in seconds. */
const maxClockSkewSeconds = 60;

/**
 * Returns the code of a problem of an ID token that its audience and expiry do not show: it was issued to another client
 * (`azp`), or in the future (`iat`), so that it would outlive its time. `undefined` for none.
 */
export function tokenProblem(
  { azp, iat }: Claims,
  clientId: string,
  nowSeconds: number,
): 'wrong_azp' | 'future_iat' | undefined {
  if (azp !== undefined && azp !== clientId) return 'wrong_azp';
  return typeof iat === 'number' && iat <= nowSeconds + maxClockSkewSeconds ? undefined : 'future_iat';
}

/** Settings of the provider. */
export type OpenIdSettings = Pick<
  SignInSettings,
  'oidcClientSecret' | 'oidcScopes' | 'oidcNameClaim' | 'oidcRolesClaim'
> & {
  readonly oidcIssuer: string;
  readonly oidcClientId: string;
  readonly publicUrl: string;
};

/** Maximum length of an address that every proxy and server in front of a provider takes, in characters. */
const maxUrlLength = 4000;

/** Time limit of each request to the provider, in seconds. */
const timeoutSeconds = 10;

/** A person whom the provider has authenticated. */
export interface AuthenticatedPerson {
  readonly issuer: string;
  /** Permanent identifier at the provider. */
  readonly subject: string;
  readonly name: string;
  readonly groups: readonly string[];
  /** Email address that the provider does not call unverified; `undefined` for none. */
  readonly email: string | undefined;
  readonly idToken: string | undefined;
}

/** Returns the provider of a server, or `undefined` if people do not sign in by one. */
export function openIdProvider(settings: SignInSettings): OpenIdProvider | undefined {
  const { oidcIssuer, oidcClientId, publicUrl } = settings;
  if (oidcIssuer === undefined || oidcClientId === undefined || publicUrl === undefined) return undefined;
  return new OpenIdProvider({ ...settings, oidcIssuer, oidcClientId, publicUrl });
}

/** The library and the provider's metadata. */
interface Discovered {
  readonly library: typeof OpenIdClient;
  readonly configuration: OpenIdClient.Configuration;
}

/**
 * An OpenID provider (https://openid.net/specs/openid-connect-core-1_0.html), by the authorization code flow with PKCE. Its
 * metadata is read when the first person signs in, so a provider that is down does not keep the server from starting.
 */
export class OpenIdProvider {
  /** Address of the console, to which people return. */
  readonly consoleUrl: string;
  readonly #settings: OpenIdSettings;
  #discovered: Promise<Discovered> | undefined;

  constructor(settings: OpenIdSettings) {
    this.consoleUrl = `${settings.publicUrl}/console/`;
    this.#settings = settings;
  }

  /**
   * Begins a sign-in.
   *
   * @param switchesAccount - `true` to let the person choose an account, also if the provider already knows one
   * @returns the address of the provider's page, and the values that {@link authenticate} compares
   * @throws SignInError `unavailable`.
   */
  async begin(
    switchesAccount: boolean,
  ): Promise<{ readonly url: URL } & Pick<SignInAttempt, 'state' | 'nonce' | 'codeVerifier'>> {
    const { library, configuration } = await this.#discover();
    const state = library.randomState();
    const nonce = library.randomNonce();
    const codeVerifier = library.randomPKCECodeVerifier();
    const url = library.buildAuthorizationUrl(configuration, {
      redirect_uri: this.#redirectUrl,
      scope: this.#settings.oidcScopes,
      state,
      nonce,
      code_challenge: await library.calculatePKCECodeChallenge(codeVerifier),
      code_challenge_method: 'S256',
      ...(switchesAccount && { prompt: 'login' }),
    });
    return { url, state, nonce, codeVerifier };
  }

  /**
   * Exchanges the code of the way back for the claims of the person. The ID token's signature, issuer, audience, times and
   * nonce are checked.
   *
   * @param search - query of the way back, with its `?`
   * @throws SignInError.
   */
  async authenticate(search: string, attempt: SignInAttempt): Promise<AuthenticatedPerson> {
    const { library, configuration } = await this.#discover();
    try {
      const tokens = await library.authorizationCodeGrant(
        configuration,
        // The request's own Host is not trusted.
        new URL(`${this.#redirectUrl}${search}`),
        {
          expectedState: attempt.state,
          expectedNonce: attempt.nonce,
          pkceCodeVerifier: attempt.codeVerifier,
          idTokenExpected: true,
        },
      );
      const idClaims = tokens.claims() as OpenIdClient.IDToken;
      const problem = tokenProblem(idClaims, this.#settings.oidcClientId, Date.now() / 1000);
      if (problem !== undefined) throw new SignInError('rejected', problem);
      const claims = await this.#withUserInfo(idClaims, tokens.access_token);
      const { oidcNameClaim, oidcRolesClaim } = this.#settings;
      const name = nameIn(claims, oidcNameClaim);
      if (name === undefined) throw new SignInError('rejected', 'no_name');
      const groups = groupsIn(claims, oidcRolesClaim);
      const email = nameIn({ ...claims, sub: undefined }, emailClaim);
      return { issuer: idClaims.iss, subject: idClaims.sub, name, groups, email, idToken: tokens.id_token };
    } catch (error) {
      throw providerError(error);
    }
  }

  /**
   * Returns the address at which the person signs out of the provider
   * (https://openid.net/specs/openid-connect-rpinitiated-1_0.html), or `undefined` if it has none or cannot be reached.
   */
  async signOutUrl(idToken: string | undefined): Promise<string | undefined> {
    if (idToken === undefined) return undefined;
    try {
      const { library, configuration } = await this.#discover();
      if (configuration.serverMetadata().end_session_endpoint === undefined) return undefined;
      const place = { client_id: this.#settings.oidcClientId, post_logout_redirect_uri: this.consoleUrl };
      const { href } = library.buildEndSessionUrl(configuration, { ...place, id_token_hint: idToken });
      // The hint may have a person's groups, and no server takes addresses of any length. Without it, the provider asks.
      return href.length <= maxUrlLength ? href : library.buildEndSessionUrl(configuration, place).href;
    } catch {
      return undefined;
    }
  }

  get #redirectUrl(): string {
    return `${this.consoleUrl}sign-in/callback`;
  }

  /** Adds the claims of the UserInfo endpoint if the ID token lacks some. Those of the token take precedence. */
  async #withUserInfo(claims: OpenIdClient.IDToken, accessToken: string): Promise<Claims> {
    const { library, configuration } = await this.#discover();
    const wanted = [this.#settings.oidcNameClaim ?? 'email', this.#settings.oidcRolesClaim];
    const isComplete = wanted.every((path) => claimAt(claims, path) !== undefined);
    if (isComplete || configuration.serverMetadata().userinfo_endpoint === undefined) return claims;
    return { ...(await library.fetchUserInfo(configuration, accessToken, claims.sub)), ...claims };
  }

  /** Reads the provider's metadata once; after a failure, the next call tries again. */
  #discover(): Promise<Discovered> {
    this.#discovered ??= this.#readMetadata().catch((error: unknown) => {
      this.#discovered = undefined;
      throw providerError(error, 'unavailable');
    });
    return this.#discovered;
  }

  async #readMetadata(): Promise<Discovered> {
    // Loaded here, because most servers never need it.
    const library = await import('openid-client');
    const { oidcIssuer, oidcClientId, oidcClientSecret } = this.#settings;
    const issuer = new URL(oidcIssuer);
    const configuration = await library.discovery(
      issuer,
      oidcClientId,
      undefined,
      clientAuthentication(library, oidcClientSecret),
      {
        timeout: timeoutSeconds,
        execute: [
          library.enableNonRepudiationChecks,
          // The settings allow http on loopback addresses only.
          ...(issuer.protocol === 'http:' ? [library.allowInsecureRequests] : []),
        ],
      },
    );
    return { library, configuration };
  }
}

/** Returns how this server authenticates: with its secret in the way that the provider supports, or as a public client. */
function clientAuthentication(
  library: typeof OpenIdClient,
  secret: string | undefined,
): OpenIdClient.ClientAuth {
  if (secret === undefined) return library.None();
  const basic = library.ClientSecretBasic(secret);
  const post = library.ClientSecretPost(secret);
  return (server, client, body, headers) => {
    // Without a list, basic is the default (OpenID Connect Discovery, section 3).
    const methods = server.token_endpoint_auth_methods_supported ?? ['client_secret_basic'];
    return (methods.includes('client_secret_basic') ? basic : post)(server, client, body, headers);
  };
}

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
function providerError(error: unknown, fallback: SignInFailure = 'rejected'): SignInError {
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
