import { afterEach, beforeEach, describe, expect, test, vi } from 'vitest';
import { activityEvent, checkBody, readError } from '../test-server.ts';
import { SignedIn, type SignInSetup, signInSetup } from './sign-in-setup.ts';
import { TestBrowser } from './test-browser.ts';

let setup: SignInSetup;

beforeEach(async () => {
  setup = await signInSetup();
});

afterEach(() => {
  vi.useRealTimers();
});

const minuteMs = 60_000;

/** Moves the clock of the server, which is in this process. */
function pass(minutes: number): void {
  vi.useFakeTimers({ toFake: ['Date'], now: Date.now() + minutes * minuteMs });
}

describe('cookies', () => {
  test('of a server on plain http have no prefix, and no script can read them', async () => {
    const { browser } = await SignedIn.as('ada', setup.url);
    const set = browser.setCookies.filter((header) => header.startsWith('actlog'));
    expect(set).toEqual([
      expect.stringMatching(
        /^actlog-sign-in-attempt=[^;]{100,}; Max-Age=900; Path=\/; HttpOnly; SameSite=Lax$/,
      ),
      'actlog-sign-in-attempt=; Max-Age=0; Path=/; HttpOnly; SameSite=Strict',
      expect.stringMatching(/^actlog-sign-in=[\w-]{43}; Max-Age=43200; Path=\/; HttpOnly; SameSite=Strict$/),
    ]);
  });

  test('of a server on https are for its host only, and secure', async () => {
    const publicUrl = 'https://actlog.example';
    const { server } = await signInSetup({ publicUrl });
    const browser = new TestBrowser({ [publicUrl]: server.server.url });
    await SignedIn.as('ada', publicUrl, browser);
    const set = browser.setCookies.filter((header) => header.includes('actlog'));
    expect(set).toEqual([
      expect.stringMatching(/^__Host-actlog-sign-in-attempt=.*; Path=\/; HttpOnly; Secure; SameSite=Lax$/),
      expect.stringMatching(/^__Host-actlog-sign-in-attempt=; Max-Age=0; Path=\/; HttpOnly; Secure/),
      expect.stringMatching(/^__Host-actlog-sign-in=.*; Path=\/; HttpOnly; Secure; SameSite=Strict$/),
    ]);
    expect(set.join()).not.toMatch(/domain=/i);
    // A cookie without the prefix could come from another host of the domain.
    const value = browser.cookies.get('__Host-actlog-sign-in') as string;
    browser.cookies.clear();
    browser.cookies.set('actlog-sign-in', value);
    expect((await browser.send(`${publicUrl}/v1/sessions`)).status).toBe(401);
  });

  test('are accepted by the endpoints of the console, and not by others', async () => {
    const ada = await SignedIn.as('ada', setup.url);
    for (const path of ['/v1/sessions', '/server/v1/overview', '/console/api/keys']) {
      expect([path, await ada.status('GET', path)]).toEqual([path, 200]);
    }
    expect(await ada.status('POST', '/otlp/v1/traces', {})).toBe(401);
    expect((await fetch(`${setup.url}/v1/sessions`)).status).toBe(401);
  });

  test('are ignored in a request with a key, whose scopes apply', async () => {
    const ada = await SignedIn.as('ada', setup.url);
    const { apiKey } = await setup.server.server.admin.keys.create('default', {
      name: 'r',
      scopes: ['read'],
    });
    const headers = { authorization: `Bearer ${apiKey}` };
    expect(await ada.status('GET', '/console/api/keys', undefined, headers)).toBe(403);
    expect(await ada.status('GET', '/v1/sessions', undefined, { authorization: 'Bearer al_live_x' })).toBe(
      401,
    );
  });

  test.each(['x', 'a'.repeat(43), '%00', 'é'])('with the value %j are refused', async (value) => {
    const browser = new TestBrowser();
    browser.cookies.set('actlog-sign-in', encodeURIComponent(value));
    const error = await readError(await browser.send(`${setup.url}/v1/sessions`));
    expect(error).toMatchObject({ status: 401, code: 'AUTHENTICATION_FAILED' });
  });

  test('have a secret that the database does not contain', async () => {
    const { browser } = await SignedIn.as('ada', setup.url);
    const secret = browser.cookies.get('actlog-sign-in') as string;
    const response = await browser.send(`${setup.url}/console/api/sign-in`);
    expect(await response.json()).toEqual({
      provider: { label: 'single sign-on' },
      signedIn: true,
      noRole: null,
    });
    expect(JSON.stringify([...response.headers])).not.toContain(secret);
  });
});

describe('a request that changes something', () => {
  const policy = { name: 'p', effect: 'deny' };

  test('is accepted from the console', async () => {
    const ada = await SignedIn.as('ada', setup.url);
    expect(await ada.status('POST', '/v1/policies', policy)).toBe(201);
  });

  test.each([
    ['without the CSRF token', { 'x-actlog-csrf': '' }, 'headers.x-actlog-csrf'],
    ['with another CSRF token', { 'x-actlog-csrf': 'a'.repeat(43) }, 'headers.x-actlog-csrf'],
    ['from another site', { 'sec-fetch-site': 'cross-site' }, 'headers.sec-fetch-site'],
    ['from another host of the site', { 'sec-fetch-site': 'same-site' }, 'headers.sec-fetch-site'],
    ['from another origin', { origin: 'https://evil.example' }, 'headers.origin'],
    ['from a sandboxed frame', { origin: 'null' }, 'headers.origin'],
  ])('is refused %s', async (_title, headers, path) => {
    const ada = await SignedIn.as('ada', setup.url);
    for (const [method, target, body] of [
      ['POST', '/v1/policies', policy],
      ['POST', '/server/v1/pending-actions/decide', { decisions: [] }],
      ['DELETE', '/server/v1/grants/grt_1', undefined],
      ['POST', '/console/api/keys', { name: 'k' }],
      ['POST', '/console/api/sign-out', undefined],
    ] as const) {
      const error = await readError(await ada.send(method, target, body, headers as Record<string, string>));
      expect(error).toMatchObject({
        status: 403,
        code: 'PERMISSION_DENIED',
        details: [{ path, code: 'csrf' }],
      });
    }
    expect(await ada.status('GET', '/v1/policies')).toBe(200);
    expect((await setup.server.ok('policies.list')).items).toEqual([]);
  });

  test('is refused with the CSRF token of another sign-in of the same person', async () => {
    const [one, two] = [await SignedIn.as('ada', setup.url), await SignedIn.as('ada', setup.url)];
    expect(two.csrfToken).not.toBe(one.csrfToken);
    expect(await one.status('POST', '/v1/policies', policy, { 'x-actlog-csrf': two.csrfToken })).toBe(403);
  });

  test('needs no CSRF token with a key', async () => {
    await setup.server.policy();
  });
});

describe('roles', () => {
  const requests = [
    ['GET', '/v1/sessions', undefined, 'viewer'],
    ['GET', '/v1/policies', undefined, 'viewer'],
    ['GET', '/server/v1/overview', undefined, 'viewer'],
    ['GET', '/console/api/limits', undefined, 'viewer'],
    ['GET', '/console/api/identity', undefined, 'viewer'],
    ['POST', '/v1/guardian/pending-actions/pac_1/decide', { decision: 'deny' }, 'approver'],
    ['POST', '/server/v1/pending-actions/decide', { decisions: [] }, 'approver'],
    ['DELETE', '/server/v1/grants/grt_1', undefined, 'approver'],
    ['POST', '/v1/policies', { name: 'p', effect: 'deny' }, 'admin'],
    ['POST', '/v1/policies/check', checkBody(), 'admin'],
    ['POST', '/v1/agents', { name: 'a' }, 'admin'],
    ['POST', '/v1/notification-channels', {}, 'admin'],
    ['POST', '/v1/events', activityEvent(), 'admin'],
    ['POST', '/console/api/sessions/s/learn', undefined, 'admin'],
    ['GET', '/console/api/keys', undefined, 'admin'],
    ['POST', '/console/api/keys', { name: 'k' }, 'admin'],
  ] as const;
  const order = ['viewer', 'approver', 'admin'];

  test.each([
    ['alan', 'viewer'],
    ['grace', 'approver'],
    ['ada', 'admin'],
  ])('permit %s what the role %s may do, and nothing else', async (account, role) => {
    const person = await SignedIn.as(account, setup.url);
    for (const [method, path, body, needed] of requests) {
      const response = await person.send(method, path, body);
      const isPermitted = order.indexOf(role) >= order.indexOf(needed);
      expect([method, path, response.status !== 403]).toEqual([method, path, isPermitted]);
      if (isPermitted) continue;
      expect((await readError(response)).message).toMatch(`the role "${role}" does not have`);
    }
  });
});

describe('a sign-in ends', () => {
  test('after the idle time, and each request begins it again', async () => {
    const ada = await SignedIn.as('ada', setup.url);
    for (let round = 0; round < 3; round += 1) {
      pass(59);
      expect(await ada.status('GET', '/v1/sessions')).toBe(200);
    }
    pass(60);
    expect(await ada.status('GET', '/v1/sessions')).toBe(401);
  });

  test('after the maximum time, however often it is used', async () => {
    const ada = await SignedIn.as('ada', setup.url);
    for (let hours = 0.5; hours < 12; hours += 0.5) {
      pass(30);
      expect([hours, await ada.status('GET', '/v1/sessions')]).toEqual([hours, 200]);
    }
    pass(30);
    expect(await ada.status('GET', '/v1/sessions')).toBe(401);
  });

  test('when the person signs out, here and at the provider', async () => {
    const ada = await SignedIn.as('ada', setup.url);
    const secret = ada.browser.cookies.get('actlog-sign-in') as string;
    const response = await ada.send('POST', '/console/api/sign-out');
    expect(response.status).toBe(200);
    const { continueAt } = (await response.json()) as { continueAt: string };
    const address = new URL(continueAt);
    expect(`${address.origin}${address.pathname}`).toBe(`${setup.provider.issuer}/session/end`);
    expect(address.searchParams.get('post_logout_redirect_uri')).toBe(`${setup.url}/console/`);
    expect(address.searchParams.get('id_token_hint')).toMatch(/^ey[\w-]+\.[\w-]+\.[\w-]+$/);
    expect((await ada.browser.open(continueAt)).response.status).toBe(200);
    expect(ada.browser.cookies.has('actlog-sign-in')).toBe(false);
    ada.browser.cookies.set('actlog-sign-in', secret);
    expect(await ada.status('GET', '/v1/sessions')).toBe(401);
  });

  test('while a check waits, which then gets no response', async () => {
    await setup.server.policy({ effect: 'require_approval' });
    const ada = await SignedIn.as('ada', setup.url);
    const body = { ...checkBody(), actionId: 'call-1' };
    const { pendingActionId: id } = await setup.server.check({ actionId: 'call-1' });
    const waiting = ada.send('POST', '/v1/policies/check', body, { prefer: 'wait=25' });
    await expect
      .poll(async () => (await setup.server.ok('guardian.pendingActions.list')).items.length)
      .toBe(1);
    expect(await ada.status('POST', '/console/api/sign-out')).toBe(200);
    await setup.server.ok('guardian.pendingActions.decide', {
      id: id as string,
      body: { decision: 'approve' },
    });
    expect((await waiting).status).toBe(401);
  });

  test('when an admin ends it, who sees the people who are signed in', async () => {
    const [ada, alan] = [await SignedIn.as('ada', setup.url), await SignedIn.as('alan', setup.url)];
    const list = async () =>
      (await (await ada.send('GET', '/console/api/sign-ins')).json()) as { items: { id: string }[] };
    const { items } = await list();
    expect(items).toEqual([
      {
        id: expect.stringMatching(/^sin_/),
        userId: expect.stringMatching(/^usr_/),
        name: 'alan@example.com',
        role: 'viewer',
        createdAt: expect.any(String),
        lastUsedAt: expect.any(String),
        expiresAt: expect.any(String),
        current: false,
      },
      expect.objectContaining({ name: 'ada@example.com', role: 'admin', current: true }),
    ]);
    const path = `/console/api/sign-ins/${items[0]?.id}`;
    expect(await alan.status('DELETE', path)).toBe(403);
    expect(await ada.status('DELETE', path)).toBe(200);
    expect(await ada.status('DELETE', path)).toBe(404);
    expect(await alan.status('GET', '/v1/sessions')).toBe(401);
    pass(60);
    expect((await setup.server.ok('sessions.list')).items).toEqual([]);
    const headers = { authorization: `Bearer ${setup.server.apiKey}` };
    const later = await fetch(`${setup.url}/console/api/sign-ins`, { headers });
    expect(await later.json()).toEqual({ items: [], hasMore: false });
  });

  test('in the other tenant of the deployment only by an admin of its own', async () => {
    const ada = await SignedIn.as('ada', setup.url);
    const { admin } = setup.server.server;
    await admin.tenants.create('rival');
    const { apiKey } = await admin.keys.create('rival', { name: 'r' });
    const own = (await (await ada.send('GET', '/console/api/sign-ins')).json()) as {
      items: { id: string }[];
    };
    const headers = { authorization: `Bearer ${apiKey}` };
    const response = await fetch(`${setup.url}/console/api/sign-ins/${own.items[0]?.id}`, {
      method: 'DELETE',
      headers,
    });
    expect(response.status).toBe(404);
    expect(await ada.status('GET', '/v1/sessions')).toBe(200);
  });

  test('when its tenant is deleted', async () => {
    const ada = await SignedIn.as('ada', setup.url);
    await setup.server.server.admin.tenants.delete('default', { erasure: 'Request 1' });
    pass(1);
    expect(await ada.status('GET', '/v1/sessions')).toBe(401);
  });
});
