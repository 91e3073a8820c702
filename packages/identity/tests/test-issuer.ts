import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { type CryptoKey, exportJWK, generateKeyPair, type JWK, SignJWT } from 'jose';

/** A key of a {@link TestIssuer}. */
export interface TestKey {
  readonly kid: string;
  readonly alg: string;
  readonly privateKey: CryptoKey;
  readonly jwk: JWK;
}

/** An issuer on a loopback address, with discovery, a JWKS and tokens. */
export interface TestIssuer {
  readonly url: string;
  /** Keys that are published. */
  readonly keys: TestKey[];
  /** Number of requests for the keys. */
  readonly requests: { jwks: number };
  /** `true` to respond with 503. */
  readonly state: { isDown: boolean; metadata: Record<string, unknown> };
  addKey(alg?: string, kid?: string): Promise<TestKey>;
  /** Returns a token with the newest key. A claim of `undefined` is left out. */
  token(
    claims?: Readonly<Record<string, unknown>>,
    header?: Record<string, unknown>,
    key?: TestKey,
  ): Promise<string>;
  close(): Promise<void>;
}

/** Audience of the tokens of a {@link TestIssuer}. */
export const audience = 'https://actlog.example.com';

let created = 0;

export async function createKey(alg = 'ES256', kid = `key-${++created}`): Promise<TestKey> {
  const { privateKey, publicKey } = await generateKeyPair(alg, { extractable: true });
  return { kid, alg, privateKey, jwk: { ...(await exportJWK(publicKey)), kid, alg, use: 'sig' } };
}

export async function startTestIssuer(): Promise<TestIssuer> {
  const keys: TestKey[] = [];
  const requests = { jwks: 0 };
  const state: TestIssuer['state'] = { isDown: false, metadata: {} };
  const server = createServer((request, response) => {
    const json = (status: number, body: unknown) =>
      response.writeHead(status, { 'content-type': 'application/json' }).end(JSON.stringify(body));
    if (request.url === '/jwks') requests.jwks += 1;
    if (state.isDown) return json(503, {});
    if (request.url === '/jwks') return json(200, { keys: keys.map(({ jwk }) => jwk) });
    if (request.url === '/.well-known/openid-configuration') {
      return json(200, { issuer: url, jwks_uri: `${url}/jwks`, ...state.metadata });
    }
    return json(404, {});
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const url = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
  const issuer: TestIssuer = {
    url,
    keys,
    requests,
    state,
    async addKey(alg, kid) {
      const key = await createKey(alg, kid);
      keys.push(key);
      return key;
    },
    token(claims = {}, header = {}, key = keys.at(-1) as TestKey) {
      const now = Math.floor(Date.now() / 1000);
      const all = { iss: url, aud: audience, sub: 'billing', iat: now, exp: now + 600, ...claims };
      return new SignJWT(JSON.parse(JSON.stringify(all)) as Record<string, unknown>)
        .setProtectedHeader({ alg: key.alg, kid: key.kid, typ: 'JWT', ...header } as { alg: string })
        .sign(key.privateKey, { crit: { foo: true } });
    },
    close: () =>
      new Promise((resolve) => {
        server.close(() => resolve());
        server.closeAllConnections();
      }),
  };
  await issuer.addKey();
  return issuer;
}
