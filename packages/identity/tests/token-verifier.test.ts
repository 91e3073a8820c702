import { createHmac } from 'node:crypto';
import { mkdtemp, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import {
  IssuerUnavailableError,
  issuersSetting,
  TokenError,
  TokenVerifier,
  type TrustedIssuerSettings,
} from '@actlog/identity';
import { type CryptoKey, exportSPKI, importJWK } from 'jose';
import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import { audience, createKey, startTestIssuer, type TestIssuer, type TestKey } from './test-issuer.ts';

let issuer: TestIssuer;
let nowMs: number;

beforeEach(async () => {
  issuer = await startTestIssuer();
  nowMs = Date.now();
});
afterEach(() => issuer.close());

function verifier(settings: Partial<TrustedIssuerSettings> = {}): TokenVerifier {
  const issuers = issuersSetting.parse([
    {
      issuer: issuer.url,
      audience,
      agents: { 'billing*': 'billing*' },
      ...settings,
    } as TrustedIssuerSettings,
  ]);
  return new TokenVerifier(issuers, { now: () => nowMs });
}

/** Returns the problem of a token, or the whole error if it is another one. */
async function problemOf(token: string, on = verifier()): Promise<unknown> {
  const error = await on.verify(token).then(
    () => 'accepted',
    (thrown: unknown) => thrown,
  );
  if (!(error instanceof TokenError)) return error;
  for (const part of token.split('.')) if (part.length > 3) expect(error.message).not.toContain(part);
  return error.problem;
}

function encoded(value: unknown): string {
  return Buffer.from(typeof value === 'string' ? value : JSON.stringify(value)).toString('base64url');
}

/** Signs a header and claims as they are written. */
async function signedText(header: string, claims: string): Promise<string> {
  const [key] = issuer.keys;
  const input = `${encoded(header)}.${encoded(claims)}`;
  const algorithm = { name: 'ECDSA', hash: 'SHA-256' };
  const signature = await crypto.subtle.sign(algorithm, (key as TestKey).privateKey, Buffer.from(input));
  return `${input}.${Buffer.from(signature).toString('base64url')}`;
}

test('verifies agent, principal, issuer and subject of a token by the keys in the metadata of the issuer', async () => {
  const token = await issuer.token({ sub: 'billing-eu', email: 'ada@example.com' });
  const verified = await verifier({ principalClaim: 'email' }).verify(token);
  expect(verified).toMatchObject({ issuer: issuer.url, subject: 'billing-eu', principal: 'ada@example.com' });
  expect(verified.agents.map((agent) => [agent.matches('billing-eu'), agent.matches('mailer')])).toEqual([
    [true, false],
  ]);
});

test.each(['RS256', 'PS384', 'ES512', 'EdDSA'])('accepts %s', async (alg) => {
  await issuer.addKey(alg);
  expect(await problemOf(await issuer.token())).toBe('accepted');
});

describe('refuses', () => {
  const seconds = Math.floor(Date.now() / 1000);

  test.each([
    ['another audience', { aud: 'https://other.example.com' }, 'audience'],
    ['no audience', { aud: undefined }, 'audience'],
    ['an audience that is a number', { aud: 1 }, 'audience'],
    ['another issuer', { iss: 'https://login.example.com' }, 'issuer'],
    ['the issuer with a slash', { iss: 'http://127.0.0.1/' }, 'issuer'],
    ['no issuer', { iss: undefined }, 'issuer'],
    ['an expired token', { exp: seconds - 100 }, 'expired'],
    ['a token without an end', { exp: undefined }, 'lifetime'],
    ['an end that is a text', { exp: '9999999999' }, 'lifetime'],
    ['a token of tomorrow', { nbf: seconds + 86_400 }, 'not_yet_valid'],
    ['a token issued in the future', { iat: seconds + 600 }, 'not_yet_valid'],
    ['a token issued days ago', { iat: seconds - 3 * 86_400, exp: seconds + 86_400 }, 'lifetime'],
    ['no subject', { sub: undefined }, 'subject'],
    ['a subject of two lines', { sub: 'billing\nadmin' }, 'subject'],
    ['a subject that is no agent', { sub: 'mailer' }, 'agent'],
  ])('%s', async (_title, claims, problem) => {
    expect(await problemOf(await issuer.token(claims))).toBe(problem);
  });

  test.each([
    ['jku', { jku: 'https://evil.example.com/jwks' }, 'forbidden_header'],
    ['x5u', { x5u: 'https://evil.example.com/cert' }, 'forbidden_header'],
    ['x5c', { x5c: ['MIIB'] }, 'forbidden_header'],
    ['crit', { crit: ['foo'], foo: 1 }, 'forbidden_header'],
    ['the type of a DPoP proof', { typ: 'dpop+jwt' }, 'type'],
    ['the type of a logout token', { typ: 'logout+jwt' }, 'type'],
    ['a key id that is a path', { kid: '../../../../dev/null' }, 'key'],
    ['a key id that is a query', { kid: "x' UNION SELECT 'y" }, 'key'],
    ['a long key id', { kid: 'k'.repeat(501) }, 'key'],
  ])('a header with %s', async (_title, header, problem) => {
    expect(await problemOf(await issuer.token({}, header))).toBe(problem);
  });

  test('a key in the header, with which the token is signed', async () => {
    const own = await createKey('ES256', 'own');
    expect(await problemOf(await issuer.token({}, { jwk: own.jwk, kid: 'own' }, own))).toBe(
      'forbidden_header',
    );
    expect(await problemOf(await issuer.token({}, { kid: issuer.keys[0]?.kid }, own))).toBe('signature');
  });

  test('no signature, in every spelling', async () => {
    const [, claims, signature] = (await issuer.token()).split('.');
    for (const alg of ['none', 'None', 'NONE', 'nOnE', '', undefined, ['ES256'], null]) {
      for (const end of ['', signature]) {
        expect(
          await problemOf(`${encoded({ alg, kid: issuer.keys[0]?.kid })}.${claims}.${end}`),
          String(alg),
        ).toMatch(/^(algorithm|malformed)$/);
      }
    }
  });

  test('a signature with the public key as a shared secret', async () => {
    const rsa = await issuer.addKey('RS256');
    const [, claims] = (await issuer.token()).split('.');
    const publicKey = (await importJWK(rsa.jwk, 'RS256', { extractable: true })) as CryptoKey;
    for (const secret of [await exportSPKI(publicKey), JSON.stringify(rsa.jwk), rsa.jwk.n as string]) {
      const input = `${encoded({ alg: 'HS256', kid: rsa.kid })}.${claims}`;
      const signature = createHmac('sha256', secret).update(input).digest('base64url');
      expect(await problemOf(`${input}.${signature}`)).toBe('algorithm');
    }
  });

  test('an algorithm beyond the configured ones', async () => {
    await issuer.addKey('RS256');
    expect(await problemOf(await issuer.token(), verifier({ algorithms: ['ES256'] }))).toBe('algorithm');
  });

  test('claims of another token with this signature', async () => {
    const [header, , signature] = (await issuer.token()).split('.');
    const [, claims] = (await issuer.token({ sub: 'billing-admin' })).split('.');
    expect(await problemOf(`${header}.${claims}.${signature}`)).toBe('signature');
  });

  test('a claim or a header that occurs twice, also with an escaped name', async () => {
    const { kid } = issuer.keys[0] as { kid: string };
    const header = `{"alg":"ES256","kid":"${kid}"}`;
    const rest = `"iss":"${issuer.url}","aud":"${audience}","exp":${seconds + 600}`;
    expect(await problemOf(await signedText(header, `{"sub":"billing",${rest}}`))).toBe('accepted');
    expect(await problemOf(await signedText(header, `{"sub":"mailer","sub":"billing",${rest}}`))).toBe(
      'malformed',
    );
    expect(await problemOf(await signedText(header, `{"sub":"mailer","\\u0073ub":"billing",${rest}}`))).toBe(
      'malformed',
    );
    expect(
      await problemOf(
        await signedText(`{"alg":"none","alg":"ES256","kid":"${kid}"}`, `{"sub":"billing",${rest}}`),
      ),
    ).toBe('malformed');
  });

  test.each([
    ['nothing', ''],
    ['a word', 'token'],
    ['an encrypted token of five parts', 'a.b.c.d.e'],
    ['a huge token', `${'a'.repeat(5_000_000)}.b.c`],
    ['a header that is no base64url', '!!!!.e30.c2ln'],
    ['a header that is a list', `${Buffer.from('[]').toString('base64url')}.e30.c2ln`],
    ['a header that is no UTF-8', `${Buffer.from([0x22, 0xff, 0x22]).toString('base64url')}.e30.c2ln`],
  ])('%s', async (_title, token) => {
    expect(await problemOf(token)).toBe('malformed');
  });

  test('the same token with padding or white space', async () => {
    const token = await issuer.token();
    for (const other of [`${token}=`, `${token}\n`, ` ${token}`, token.replace('.', '=.')]) {
      expect(await problemOf(other)).toBe('malformed');
    }
  });

  test('a claim with another value than required, and accepts one of a list', async () => {
    const on = verifier({ claims: { repository_owner_id: ['4711'], groups: ['agents'] } });
    const claims = { repository_owner_id: '4711', groups: ['all', 'agents'] };
    expect(await problemOf(await issuer.token(claims), on)).toBe('accepted');
    expect(await problemOf(await issuer.token({ ...claims, repository_owner_id: '4712' }), on)).toBe('claim');
    expect(await problemOf(await issuer.token({ repository_owner_id: '4711' }), on)).toBe('claim');
  });
});

describe('keys', () => {
  test('follow a rotation, and unknown key ids request them at most once in 30 seconds', async () => {
    const on = verifier();
    expect(await problemOf(await issuer.token(), on)).toBe('accepted');
    const old = await issuer.token({ jti: '1' });
    nowMs += 31_000;
    issuer.keys.length = 0;
    await issuer.addKey();
    expect(await problemOf(await issuer.token(), on)).toBe('accepted');
    expect(await problemOf(old, on)).toBe('key');
    expect(issuer.requests.jwks).toBe(2);
    for (let count = 0; count < 20; count += 1) {
      expect(await problemOf(await issuer.token({}, { kid: `unknown-${count}` }), on)).toBe('key');
    }
    expect(issuer.requests.jwks).toBe(2);
    nowMs += 31_000;
    await problemOf(await issuer.token({}, { kid: 'unknown' }), on);
    expect(issuer.requests.jwks).toBe(3);
  });

  test('are accepted for a day while the issuer is down, and then no longer', async () => {
    const on = verifier();
    const lasting = { exp: Math.floor(nowMs / 1000) + 3 * 86_400 };
    expect(await problemOf(await issuer.token(lasting), on)).toBe('accepted');
    issuer.state.isDown = true;
    nowMs += 23 * 3_600_000;
    expect(await problemOf(await issuer.token({ ...lasting, jti: '1' }), on)).toBe('accepted');
    nowMs += 2 * 3_600_000;
    const late = await issuer.token({ ...lasting, iat: Math.floor(nowMs / 1000), jti: '2' });
    const error = await problemOf(late, on);
    expect(error).toBeInstanceOf(IssuerUnavailableError);
    expect(String(error)).toContain('it responded with status 503');
    nowMs += 10_000;
    issuer.state.isDown = false;
    expect(await problemOf(late, on)).toBe('accepted');
  });

  test('that were never read make a token neither valid nor invalid', async () => {
    issuer.state.isDown = true;
    const on = verifier();
    const token = await issuer.token();
    const errors = await Promise.all([problemOf(token, on), problemOf(token, on), problemOf(token, on)]);
    expect(errors.every((error) => error instanceof IssuerUnavailableError)).toBe(true);
  });

  test('of metadata that names another issuer are not used', async () => {
    issuer.state.metadata = { issuer: 'https://login.example.com' };
    expect(String(await problemOf(await issuer.token()))).toContain('its metadata names another issuer');
    issuer.state.metadata = { jwks_uri: 'http://keys.example.com/jwks' };
    expect(String(await problemOf(await issuer.token()))).toContain('its metadata names no https "jwks_uri"');
  });

  test('that are secrets are never used', async () => {
    const secret = Buffer.from('0123456789abcdef0123456789abcdef');
    issuer.keys.push({
      ...(await createKey()),
      jwk: { kty: 'oct', k: secret.toString('base64url'), kid: 'oct' },
    });
    const [, claims] = (await issuer.token({}, {}, issuer.keys[0])).split('.');
    const input = `${encoded({ alg: 'HS256', kid: 'oct' })}.${claims}`;
    expect(
      await problemOf(`${input}.${createHmac('sha256', secret).update(input).digest('base64url')}`),
    ).toBe('algorithm');
  });

  test('come from a SPIFFE bundle in a file, which is read again when it changes', async () => {
    const file = join(await mkdtemp(join(tmpdir(), 'actlog-bundle-')), 'bundle.json');
    const write = () => {
      const [key] = issuer.keys.slice(-1);
      return writeFile(
        file,
        JSON.stringify({ spiffe_sequence: 1, keys: [{ ...key?.jwk, alg: undefined, use: 'jwt-svid' }] }),
      );
    };
    await write();
    const settings: TrustedIssuerSettings = {
      trustDomain: 'acme.example',
      audience,
      jwksFile: file,
      agents: { 'spiffe://acme.example/ns/*/sa/*': '$2' },
    };
    const on = new TokenVerifier(issuersSetting.parse([settings]), { now: () => nowMs });
    const svid = (sub: string) => issuer.token({ iss: undefined, iat: undefined, sub });
    const { agents } = await on.verify(await svid('spiffe://acme.example/ns/prod/sa/billing'));
    expect(agents.map(({ pattern }) => pattern)).toEqual(['billing']);
    expect(await problemOf(await svid('spiffe://acme.example/ns/prod/sa/billing/child'), on)).toBe('agent');
    expect(await problemOf(await svid('spiffe://acme.example.evil.com/ns/prod/sa/billing'), on)).toBe(
      'issuer',
    );
    expect(await problemOf(await svid('spiffe://acme.example/ns/../sa/billing'), on)).toBe('subject');
    await issuer.addKey('RS256', 'a longer name of a key');
    await write();
    expect(await problemOf(await svid('spiffe://acme.example/ns/prod/sa/billing'), on)).toBe('accepted');
  });
});

test('a token that was verified is refused again when it expires', async () => {
  const on = verifier();
  const token = await issuer.token({ exp: Math.floor(nowMs / 1000) + 5 });
  expect(await problemOf(token, on)).toBe('accepted');
  nowMs += 40_000;
  expect(await problemOf(token, on)).toBe('expired');
});

test('a wildcard in a subject stays a character', async () => {
  const on = verifier({ agents: { '*': '$1' } });
  const { agents } = await on.verify(await issuer.token({ sub: 'bill*' }));
  expect(agents.some((agent) => agent.matches('billing'))).toBe(false);
  expect(agents.some((agent) => agent.matches('bill*'))).toBe(true);
});

test('the principal of an unverified email address is not named', async () => {
  const on = verifier({ principalClaim: 'email' });
  const token = await issuer.token({ email: 'ada@example.com', email_verified: false });
  expect((await on.verify(token)).principal).toBeUndefined();
});

test('agent and principal of an exchanged token (RFC 8693) come from its actor and its subject', async () => {
  const on = verifier({ agentClaim: 'act.sub', principalClaim: 'sub' });
  const verified = await on.verify(await issuer.token({ sub: 'ada@example.com', act: { sub: 'billing' } }));
  expect(verified.principal).toBe('ada@example.com');
  expect(verified.agents.some((agent) => agent.matches('billing'))).toBe(true);
});

test.each<[string, unknown, RegExp]>([
  ['no audience', [{ issuer: 'https://a.example' }], /audience/],
  ['an http issuer', [{ issuer: 'http://a.example', audience }], /must be an https address/],
  [
    'a shared-secret algorithm',
    [{ issuer: 'https://a.example', audience, algorithms: ['HS256'] }],
    /must be among RS256/,
  ],
  ['an unknown setting', [{ issuer: 'https://a.example', audience, agent: 'x' }], /agent/],
  [
    'two wildcards in one part',
    [{ issuer: 'https://a.example', audience, agents: { 'a*b*': 'x' } }],
    /"\*\\" twice/,
  ],
  [
    'a placeholder without a wildcard',
    [{ issuer: 'https://a.example', audience, agents: { a: '$1' } }],
    /has \$1/,
  ],
  ['a trust domain without keys', [{ trustDomain: 'a.example', audience }], /jwksUrl/],
  [
    'one issuer twice',
    [
      { issuer: 'https://a.example', audience },
      { issuer: 'https://a.example', audience },
    ],
    /twice/,
  ],
  ['a missing file', '/nowhere/issuers.json', /ENOENT/],
  ['no JSON', '[{', /must be valid JSON/],
])('settings with %s are refused with the reason', (_title, settings, message) => {
  expect(JSON.stringify(issuersSetting.safeParse(settings).error?.issues)).toMatch(message);
});
