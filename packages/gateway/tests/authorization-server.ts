import { createServer, type IncomingMessage } from 'node:http';
import type { AddressInfo } from 'node:net';
import { createRemoteJWKSet, exportJWK, generateKeyPair, jwtVerify } from 'jose';
import { Provider } from 'oidc-provider';

/** Secret of every client. */
export const secret = 'a secret: with/odd+characters&';

/** A real authorization server on a loopback address, whose clients get a token for any resource. */
export class AuthorizationServer {
  readonly issuer: string;
  /** Parameters of each token exchange. */
  readonly exchanges: Record<string, unknown>[] = [];
  /** `true` refuses token exchanges. */
  refusesExchange = false;
  readonly #close: () => Promise<void>;

  private constructor(issuer: string, close: () => Promise<void>) {
    this.issuer = issuer;
    this.#close = close;
  }

  /** @param trusted - issuer whose tokens the server exchanges */
  static async start(clients: readonly string[], trusted?: string): Promise<AuthorizationServer> {
    const server = createServer();
    await new Promise<void>((listening) => server.listen(0, '127.0.0.1', listening));
    const issuer = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
    const { privateKey } = await generateKeyPair('ES256', { extractable: true });
    const jwk = await exportJWK(privateKey);
    const exchangeGrant = 'urn:ietf:params:oauth:grant-type:token-exchange';
    const provider = quietly(
      () =>
        new Provider(issuer, {
          clients: clients.map((id) => ({
            client_id: id,
            client_secret: secret,
            id_token_signed_response_alg: 'ES256' as const,
            redirect_uris: [],
            response_types: [],
            grant_types: ['client_credentials', exchangeGrant],
          })),
          scopes: ['mcp', 'files:write'],
          features: {
            clientCredentials: { enabled: true },
            devInteractions: { enabled: false },
            resourceIndicators: {
              enabled: true,
              getResourceServerInfo: (_context, resource) => ({
                scope: 'mcp files:write',
                audience: resource,
                accessTokenFormat: 'jwt',
                accessTokenTTL: 300,
                jwt: { sign: { alg: 'ES256' } },
              }),
            },
          },
          extraTokenClaims: (_context, token) => ({
            ...(token as unknown as { extra?: Record<string, unknown> }).extra,
          }),
          jwks: { keys: [{ ...jwk, use: 'sig', alg: 'ES256', kid: 'k' }] } as never,
        }),
    );
    const self = new AuthorizationServer(issuer, async () => {
      server.closeAllConnections();
      await new Promise((closed) => server.close(closed));
    });
    provider.registerGrantType(
      exchangeGrant,
      async (context) => {
        const { client } = context.oidc;
        const params: Readonly<Record<string, unknown>> = context.oidc.params ?? {};
        self.exchanges.push({ ...params });
        if (self.refusesExchange) {
          context.status = 400;
          context.body = { error: 'invalid_target', error_description: 'No.' };
          return;
        }
        const keys = createRemoteJWKSet(new URL(`${trusted}/jwks`));
        const { payload } = await jwtVerify(String(params.subject_token), keys, { issuer: String(trusted) });
        const token = new provider.ClientCredentials({ client: client as never, scope: 'mcp' });
        token.resourceServer = new provider.ResourceServer(String(params.resource), {
          scope: 'mcp',
          audience: String(params.resource),
          accessTokenFormat: 'jwt',
          jwt: { sign: { alg: 'ES256' } },
        });
        Object.assign(token, { extra: { user: payload.sub } });
        context.body = {
          access_token: await token.save(),
          issued_token_type: 'urn:ietf:params:oauth:token-type:access_token',
          token_type: 'Bearer',
          expires_in: 300,
        };
      },
      ['subject_token', 'subject_token_type', 'requested_token_type', 'resource', 'audience', 'scope'],
      ['resource', 'audience'],
    );
    server.on('request', provider.callback());
    return self;
  }

  /** Returns a client's token for a resource. */
  async token(client: string, resource: string, scope = 'mcp'): Promise<string> {
    const credentials = [client, secret].map(encodeURIComponent).join(':');
    const response = await fetch(`${this.issuer}/token`, {
      method: 'POST',
      headers: { authorization: `Basic ${Buffer.from(credentials).toString('base64')}` },
      body: new URLSearchParams({ grant_type: 'client_credentials', resource, scope }),
    });
    const { access_token: token } = (await response.json()) as { access_token?: string };
    if (!response.ok || token === undefined) throw new Error(`There is no token: ${response.status}`);
    return token;
  }

  close(): Promise<void> {
    return this.#close();
  }
}

/** Runs `create` without the library's warning that it keeps everything in memory, which is what a test wants. */
function quietly<Result>(create: () => Result): Result {
  const { warn, info } = console;
  Object.assign(console, { warn: () => {}, info: () => {} });
  try {
    return create();
  } finally {
    Object.assign(console, { warn, info });
  }
}

/** An MCP server over HTTP that accepts tokens of one authorization server for its address only. */
export class ProtectedServer {
  readonly url: string;
  /** Headers and claims of the accepted requests. */
  readonly requests: {
    readonly headers: IncomingMessage['headers'];
    readonly claims: Record<string, unknown>;
  }[] = [];
  readonly #close: () => Promise<void>;

  private constructor(url: string, close: () => Promise<void>) {
    this.url = url;
    this.#close = close;
  }

  static async start(issuer: string): Promise<ProtectedServer> {
    const server = createServer();
    await new Promise<void>((listening) => server.listen(0, '127.0.0.1', listening));
    const url = `http://127.0.0.1:${(server.address() as AddressInfo).port}/mcp`;
    const keys = createRemoteJWKSet(new URL(`${issuer}/jwks`));
    const self = new ProtectedServer(url, async () => {
      server.closeAllConnections();
      await new Promise((closed) => server.close(closed));
    });
    server.on('request', async (request, response) => {
      const token = request.headers.authorization?.replace('Bearer ', '') ?? '';
      const verified = await jwtVerify(token, keys, { issuer, audience: url }).catch(() => undefined);
      if (!verified) {
        response.writeHead(401, {
          'www-authenticate': 'Bearer resource_metadata="https://upstream.example"',
        });
        response.end();
        return;
      }
      self.requests.push({ headers: request.headers, claims: verified.payload });
      if (request.method !== 'POST') return void response.writeHead(405).end();
      const chunks: Buffer[] = [];
      for await (const chunk of request) chunks.push(chunk as Buffer);
      const { id, method } = JSON.parse(Buffer.concat(chunks).toString()) as { id?: unknown; method: string };
      if (id === undefined) return void response.writeHead(202).end();
      const results: Record<string, object> = {
        initialize: {
          protocolVersion: '2025-06-18',
          capabilities: { tools: {} },
          serverInfo: { name: 'protected', version: '1' },
        },
        'tools/list': {
          tools: ['read', 'write_file'].map((name) => ({ name, inputSchema: { type: 'object' } })),
        },
        'tools/call': { content: [{ type: 'text', text: `done for ${verified.payload.user}` }] },
      };
      const session = method === 'initialize' ? { 'mcp-session-id': `s-${Math.random()}` } : {};
      response.writeHead(200, { 'content-type': 'application/json', ...session });
      response.end(JSON.stringify({ jsonrpc: '2.0', id, result: results[method] ?? {} }));
    });
    return self;
  }

  close(): Promise<void> {
    return this.#close();
  }
}
