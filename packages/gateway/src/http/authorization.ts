import type { IncomingHttpHeaders, IncomingMessage, ServerResponse } from 'node:http';
import {
  IssuerUnavailableError,
  issuersSetting,
  TokenError,
  TokenVerifier,
  type VerifiedAgent,
  type VerifiedToken,
} from '@actlog/identity';
import * as z from 'zod';
import { callNamesIn } from '../messages/json-rpc.ts';
import type { TokenExchange } from './token-exchange.ts';
import { respondJson } from './upstream.ts';

/** Caller of a request whose token is verified. */
export interface HttpCaller {
  /** Identifies the subject and its issuer: a session belongs to one. */
  readonly owner: string;
  /** Person or system on whose behalf the agent acts. */
  readonly principal: string;
  /** Agent that the token verifies, if the issuer says so: the calls are this agent's. */
  readonly agentId: string | undefined;
  /** Token of the caller, which never leaves the gateway but for the exchange. */
  readonly token: string;
}

/** A caller with the authorization that accepted it. */
export interface Authorized extends HttpCaller {
  readonly authorization: Authorization;
}

const url = z.url({ protocol: /^https?$/, error: 'must be an address that starts with https:// or http://' });
const words = z.array(z.string().regex(/^[\x21\x23-\x5b\x5d-\x7e]+$/, 'must be a scope without spaces'));

/** Settings of the file of `--authorize`. */
const settingsSchema = z.strictObject({
  /** Address of this gateway for clients, which is the audience of tokens. Default: where it listens. */
  resource: url.optional(),
  /** Issuers as for `@actlog/identity`; `audience` is the resource unless it is set. */
  issuers: z
    .array(z.looseObject({}))
    .min(1, 'must have an issuer, such as {"issuer":"https://login.example.com"}'),
  /** Scopes that every request needs. */
  scopes: words.default([]),
  /** Scopes that calls of tools need, by patterns of their names. */
  toolScopes: z.record(z.string().min(1), words.min(1)).default({}),
  /** Exchange of the user's token for one of the upstream (RFC 8693). Default: the upstream gets no token of the user. */
  exchange: z
    .strictObject({
      /** Authorization server of the upstream. */
      issuer: url,
      /** Id of the gateway at that server; its secret is `ACTLOG_GATEWAY_CLIENT_SECRET`. */
      clientId: z.string().min(1),
      /** Address of the upstream as that server knows it. Default: the address in `--url`. */
      resource: url.optional(),
      audience: z.string().min(1).optional(),
      scope: z.string().min(1).optional(),
    })
    .optional(),
});

/** Settings of the authorization in front of the gateway. */
export type AuthorizationSettings = z.output<typeof settingsSchema>;

/**
 * Returns the settings in the text of a file.
 *
 * @throws Error that names the field, when a setting is invalid
 */
export function authorizationSettings(text: string): AuthorizationSettings {
  let value: unknown;
  try {
    value = JSON.parse(text);
  } catch {
    throw new Error(
      'The file of --authorize must be JSON, such as {"issuers":[{"issuer":"https://login.example.com"}]}.',
    );
  }
  return parsed(settingsSchema, value, '');
}

function parsed<Schema extends z.ZodType>(schema: Schema, value: unknown, prefix: string): z.output<Schema> {
  const { data, error } = schema.safeParse(value);
  if (!error) return data as z.output<Schema>;
  const [issue] = error.issues;
  const path = [prefix, ...(issue?.path ?? [])].filter((part) => part !== '').join('.');
  throw new Error(`${path || 'The settings'} in the file of --authorize: ${issue?.message ?? 'is invalid'}.`);
}

/** Options of {@link Authorization}. */
export interface AuthorizationOptions {
  readonly settings: AuthorizationSettings;
  /** Address of the gateway for clients. */
  readonly resource: URL;
  readonly exchange: TokenExchange | undefined;
}

/** Path below which metadata is found (RFC 9728, section 3). */
const wellKnown = '/.well-known/oauth-protected-resource';

/**
 * Authorization in front of the gateway: the gateway is an OAuth 2.1 resource server (Model Context Protocol,
 * "Authorization"). Only tokens of configured issuers for this very address are accepted.
 */
export class Authorization {
  readonly exchange: TokenExchange | undefined;
  readonly #settings: AuthorizationSettings;
  readonly #resource: URL;
  readonly #issuers: ReturnType<typeof issuersSetting.parse>;
  readonly #verifier: TokenVerifier;

  /** @throws Error that names the field, when a setting of an issuer is invalid */
  constructor({ settings, resource, exchange }: AuthorizationOptions) {
    this.#settings = settings;
    this.#resource = resource;
    this.exchange = exchange;
    const issuers = settings.issuers.map((issuer) => ({ audience: resource.href, ...issuer }));
    this.#issuers = parsed(issuersSetting, issuers, 'issuers');
    this.#verifier = new TokenVerifier(this.#issuers);
  }

  /** Origin of the gateway for clients. */
  get origin(): string {
    return this.#resource.origin;
  }

  /** `true` if tokens name the agents. */
  get namesAgents(): boolean {
    return this.#issuers.some(({ agents }) => Object.keys(agents).length > 0);
  }

  /** Responds to a request for the metadata (RFC 9728). Returns `false` for another request. */
  serveMetadata(request: IncomingMessage, response: ServerResponse): boolean {
    const path = (request.url ?? '').split('?')[0];
    if (path !== wellKnown && path !== this.#metadataUrl.pathname) return false;
    if (request.method !== 'GET' && request.method !== 'HEAD') {
      respondJson(response, 405, 'The method must be GET.', { allow: 'GET, HEAD' });
      return true;
    }
    const scopes = [
      ...new Set([...this.#settings.scopes, ...Object.values(this.#settings.toolScopes).flat()]),
    ];
    response.writeHead(200, { 'content-type': 'application/json', 'cache-control': 'max-age=300' });
    response.end(
      JSON.stringify({
        resource: this.#resource.href,
        authorization_servers: this.#issuers.flatMap(({ issuer }) => issuer ?? []),
        bearer_methods_supported: ['header'],
        ...(scopes.length > 0 && { scopes_supported: scopes }),
      }),
    );
    return true;
  }

  /** Returns the caller of a request, or responds to it and returns `undefined`. */
  async caller(request: IncomingMessage, response: ServerResponse): Promise<HttpCaller | undefined> {
    const token = bearerToken(request.headers);
    if (token === undefined) {
      this.#challenge(response, 401, undefined, 'The request needs an access token.', this.#settings.scopes);
      return undefined;
    }
    let verified: VerifiedToken;
    try {
      verified = await this.#verifier.verify(token);
    } catch (error) {
      this.#refuse(response, error);
      return undefined;
    }
    const missing = missingScopes(verified, this.#settings.scopes);
    if (missing.length > 0) {
      this.#challenge(
        response,
        403,
        'insufficient_scope',
        'The access token lacks a scope.',
        this.#settings.scopes,
      );
      return undefined;
    }
    const { issuer, subject, principal = subject, agents } = verified;
    const [agent] = agents;
    if (agent !== undefined && (agents.length > 1 || isFamily(agent))) {
      const message =
        'The access token names several agents: map its subject to one id in "agents" of the issuer.';
      respondJson(response, 403, message);
      return undefined;
    }
    scopesOf.set(request, verified);
    return { owner: JSON.stringify([issuer, subject]), principal, agentId: agent?.pattern, token };
  }

  /** Returns `true` if the token of a request has the scopes for the tools that a message calls; otherwise responds. */
  admits(request: IncomingMessage, response: ServerResponse, body: Buffer): boolean {
    const verified = scopesOf.get(request);
    const names = Object.keys(this.#settings.toolScopes).length > 0 ? callNamesIn(body.toString()) : [];
    const needed = names.flatMap((name) =>
      Object.entries(this.#settings.toolScopes).flatMap(([pattern, scopes]) =>
        globMatches(pattern, name) ? scopes : [],
      ),
    );
    if (verified && missingScopes(verified, needed).length === 0) return true;
    // All scopes for this request, so that a client keeps those that it has (revision 2025-11-25, "Scope Challenge").
    const all = [...new Set([...this.#settings.scopes, ...needed])];
    this.#challenge(
      response,
      403,
      'insufficient_scope',
      'The access token lacks a scope of the called tool.',
      all,
    );
    return false;
  }

  #refuse(response: ServerResponse, error: unknown): void {
    if (error instanceof TokenError) {
      const message = `The access token was not accepted: ${error.message}.`;
      this.#challenge(response, 401, 'invalid_token', message, this.#settings.scopes);
    } else if (error instanceof IssuerUnavailableError) {
      const headers = { 'retry-after': String(error.retryAfterSeconds) };
      respondJson(
        response,
        503,
        'The access token could not be verified: its issuer does not respond.',
        headers,
      );
    } else throw error;
  }

  get #metadataUrl(): URL {
    const { pathname, search, origin } = this.#resource;
    return new URL(`${wellKnown}${pathname === '/' ? '' : pathname}${search}`, origin);
  }

  #challenge(
    response: ServerResponse,
    status: number,
    error: string | undefined,
    message: string,
    scopes: readonly string[],
  ): void {
    const parameters = [
      ...(error === undefined
        ? []
        : [
            ['error', error],
            ['error_description', message],
          ]),
      ['resource_metadata', this.#metadataUrl.href],
      ...(scopes.length === 0 ? [] : [['scope', scopes.join(' ')]]),
    ];
    const challenge = parameters.map(([name, value]) => `${name}="${quoted(value ?? '')}"`).join(', ');
    respondJson(response, status, message, { 'www-authenticate': `Bearer ${challenge}` });
  }
}

/** Tokens of requests, whose scopes are compared when the body is read. */
const scopesOf = new WeakMap<IncomingMessage, VerifiedToken>();

/** `true` if more than one id matches. A subject can contain `*` itself. */
function isFamily(agent: VerifiedAgent): boolean {
  return agent.pattern.includes('*') && agent.matches(agent.pattern.replaceAll('*', 'x'));
}

function bearerToken({ authorization }: IncomingHttpHeaders): string | undefined {
  return /^Bearer +([\w.~+/=-]+) *$/i.exec(authorization ?? '')?.[1];
}

/** Returns a text that can stand between the quotation marks of a header. */
function quoted(text: string): string {
  return text.replaceAll(/[^\x20-\x7e]/g, '?').replaceAll(/["\\]/g, "'");
}

function missingScopes({ claims }: VerifiedToken, needed: readonly string[]): string[] {
  const { scope, scp } = claims;
  const given = [scope, scp].flatMap((value) =>
    Array.isArray(value) ? value.map(String) : typeof value === 'string' ? value.split(' ') : [],
  );
  return needed.filter((one) => !given.includes(one));
}

/** Returns `true` if a pattern, in which `*` stands for any characters, matches a whole name. */
function globMatches(pattern: string, name: string): boolean {
  const [first = '', ...rest] = pattern.split('*');
  if (rest.length === 0) return pattern === name;
  if (!name.startsWith(first)) return false;
  const last = rest.pop() ?? '';
  let from = first.length;
  for (const part of rest) {
    const at = name.indexOf(part, from);
    if (at < 0) return false;
    from = at + part.length;
  }
  return name.length - last.length >= from && name.endsWith(last);
}
