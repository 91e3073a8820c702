import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { afterEach, describe, expect, test, vi } from 'vitest';
import { freePort } from '../free-port.ts';
import { atTestEnd } from '../test-end.ts';
import { testServer } from '../test-server.ts';
import { choose, people, roles, SignedIn, signIn, signInSetup } from './sign-in-setup.ts';
import { TestBrowser, type Visit } from './test-browser.ts';

afterEach(() => {
  vi.useRealTimers();
});

/** Returns the text of an error page, after checks that apply to all of them. */
async function errorPage({ response }: Visit, status: number): Promise<string> {
  const html = await response.text();
  expect({ status: response.status, html }).toMatchObject({ status });
  expect(response.headers.get('content-type')).toBe('text/html; charset=utf-8');
  expect(response.headers.get('content-security-policy')).toMatch(
    /^default-src 'none'; style-src 'self'; img-src 'self'/,
  );
  expect(html).toContain(String(response.headers.get('x-request-id')));
  expect(html).not.toContain('<script');
  return html;
}

/** `true` for the address that the provider leads back to. */
function isCallback(url: string): boolean {
  return url.includes('/console/sign-in/callback');
}

describe('a sign-in', () => {
  test('leads through the provider to the place in the console where it began', async () => {
    const { url } = await signInSetup();
    const { url: place, response } = await signIn(new TestBrowser(), url, 'ada', {
      place: '#/sessions?tool=refund%20all',
    });
    expect(place).toBe(`${url}/console/#/sessions?tool=refund%20all`);
    expect(await response.text()).toContain('<title>actlog</title>');
  });

  test.each([
    'https://evil.example/',
    '//evil.example',
    '#//evil.example\r\nx: y',
    '/console/../v1',
    'javascript:alert(1)',
    '#nowhere',
    ' #/',
  ])('never leads to %j', async (place) => {
    const { url } = await signInSetup();
    expect((await signIn(new TestBrowser(), url, 'ada', { place })).url).toBe(`${url}/console/#/`);
  });

  test.each([
    ['ada', 'admin', ['ingest', 'read', 'manage', 'decide']],
    ['grace', 'approver', ['read', 'decide']],
    ['alan', 'viewer', ['read']],
  ])('gives %s the role %s', async (account, role, scopes) => {
    const { url } = await signInSetup();
    const identity = await (await SignedIn.as(account, url)).identity();
    expect(identity).toEqual({
      id: expect.stringMatching(/^usr_[0-9a-f]{32}$/),
      name: `${account}@example.com`,
      role,
      scopes,
      csrfToken: expect.stringMatching(/^[\w-]{43}$/),
      canSignOut: true,
      expiresAt: expect.stringMatching(/Z$/),
      tenant: 'default',
      serverVersion: expect.any(String),
    });
  });

  test('works for a public client, and with nested claims and the default role', async () => {
    const claims = { lin: { preferred_username: 'lin', realm_access: { roles: ['ops'] } }, mei: {} };
    const options = {
      oidcRolesClaim: 'realm_access.roles',
      roles: { ops: 'admin' },
      defaultRole: 'viewer',
    } as const;
    const { url } = await signInSetup(options, { people: claims, isPublic: true });
    expect(await (await SignedIn.as('lin', url)).identity()).toMatchObject({ name: 'lin', role: 'admin' });
    expect(await (await SignedIn.as('mei', url)).identity()).toMatchObject({ name: 'mei', role: 'viewer' });
  });

  test('does not use an email address that the provider has not verified as a name', async () => {
    const mallory = { email: 'ada@example.com', email_verified: false, preferred_username: 'mallory' };
    const { url } = await signInSetup({ defaultRole: 'viewer' }, { people: { mallory } });
    expect(await (await SignedIn.as('mallory', url)).identity()).toMatchObject({ name: 'mallory' });
  });

  test('keeps the id of a person whose name changes', async () => {
    const named = { ...people };
    const { url } = await signInSetup({}, { people: named });
    const before = await (await SignedIn.as('ada', url)).identity();
    named.ada = { ...people.ada, email: 'lovelace@example.com' };
    const after = await (await SignedIn.as('ada', url)).identity();
    expect([after.name, after.id]).toEqual(['lovelace@example.com', before.id]);
  });

  test('takes its redirect address from the settings, not from the request', async () => {
    const { url, server } = await signInSetup();
    const headers = {
      'x-forwarded-host': 'evil.example',
      'x-forwarded-proto': 'https',
      forwarded: 'host=evil.example',
    };
    const response = await fetch(`${server.server.url.replace('127.0.0.1', 'localhost')}/console/sign-in`, {
      redirect: 'manual',
      headers,
    });
    const target = new URL(response.headers.get('location') as string);
    expect(response.status).toBe(303);
    expect(target.searchParams.get('redirect_uri')).toBe(`${url}/console/sign-in/callback`);
    expect(Object.fromEntries(target.searchParams)).toMatchObject({
      response_type: 'code',
      scope: 'openid profile email',
      code_challenge_method: 'S256',
      code_challenge: expect.stringMatching(/^[\w-]{43}$/),
      state: expect.stringMatching(/^[\w-]{43}$/),
      nonce: expect.stringMatching(/^[\w-]{43}$/),
    });
  });

  test('replaces the sign-in that the browser had', async () => {
    const { url } = await signInSetup();
    const alan = await SignedIn.as('alan', url);
    const earlier = alan.browser.cookies.get('actlog-sign-in') as string;
    alan.browser.cookies.delete('_session');
    const grace = await SignedIn.as('grace', url, alan.browser);
    expect(grace.browser.cookies.get('actlog-sign-in')).not.toBe(earlier);
    grace.browser.cookies.set('actlog-sign-in', earlier);
    expect(await grace.status('GET', '/v1/sessions')).toBe(401);
  });
});

describe('a sign-in is refused', () => {
  test('to a person without a role, on a page that says what to do', async () => {
    const { url } = await signInSetup();
    const browser = new TestBrowser();
    const html = await errorPage(await signIn(browser, url, 'eve'), 403);
    expect(html).toContain('You have no access to this server');
    expect(html).toContain('eve@example.com');
    expect(html).toContain('Ask the operator of the server');
    expect(browser.cookies.has('actlog-sign-in')).toBe(false);
    expect(html).toContain('href="../sign-in?account=other"');
    // The provider knows the person, and asks nevertheless.
    expect((await browser.open(`${url}/console/sign-in`)).url).toMatch(/sign-in\/callback/);
    expect((await browser.open(`${url}/console/sign-in?account=other`)).url).toMatch(/\/interaction\//);
  });

  test('with a name that contains markup, which the page shows as text', async () => {
    const x = { preferred_username: '<img src=x onerror=alert(1)>"\'&' };
    const { url } = await signInSetup({}, { people: { x } });
    const html = await errorPage(await signIn(new TestBrowser(), url, 'x'), 403);
    expect(html).toContain('&#60;img src=x onerror=alert(1)&#62;&#34;&#39;&#38;');
  });

  test('when the person or the provider declines', async () => {
    const { url } = await signInSetup();
    expect(await errorPage(await signIn(new TestBrowser(), url, 'nobody'), 403)).toContain('was declined');
  });

  test('with another state', async () => {
    const { url } = await signInSetup();
    const browser = new TestBrowser();
    const back = new URL((await signIn(browser, url, 'ada', { stop: isCallback })).url);
    back.searchParams.set('state', 'another');
    expect(await errorPage(await browser.open(back.href), 400)).toContain('no longer valid');
    expect(browser.cookies.size).toBeGreaterThan(0);
    expect(browser.cookies.has('actlog-sign-in')).toBe(false);
  });

  test('in another browser than the one that began it', async () => {
    const { url } = await signInSetup();
    const back = (await signIn(new TestBrowser(), url, 'ada', { stop: isCallback })).url;
    const victim = new TestBrowser();
    expect(await errorPage(await victim.open(back), 400)).toContain('no longer valid');
    await victim.open(`${url}/console/sign-in`);
    expect(await errorPage(await victim.open(back), 400)).toContain('no longer valid');
  });

  test('with another nonce', async () => {
    const { url } = await signInSetup();
    const browser = new TestBrowser();
    const begun = await browser.send(`${url}/console/sign-in`);
    const target = new URL(begun.headers.get('location') as string);
    target.searchParams.set('nonce', 'another');
    const { url: page } = await browser.open(target.href);
    expect(await errorPage(await choose(browser, page, 'ada'), 400)).toContain('could not be verified');
    expect(browser.cookies.has('actlog-sign-in')).toBe(false);
  });

  test('with a code that was used before', async () => {
    const { url } = await signInSetup();
    const browser = new TestBrowser();
    const back = (await signIn(browser, url, 'ada', { stop: isCallback })).url;
    const attempt = browser.cookies.get('actlog-sign-in-attempt') as string;
    expect((await browser.open(back)).url).toBe(`${url}/console/#/`);
    expect(await errorPage(await browser.open(back), 400)).toContain('no longer valid');
    browser.cookies.set('actlog-sign-in-attempt', attempt);
    // The provider, which would refuse the code, is not asked again.
    expect(await errorPage(await browser.open(back), 400)).toContain('no longer valid');
    expect(browser.cookies.has('actlog-sign-in')).toBe(true);
  });

  test('by HEAD, which neither begins nor completes one', async () => {
    const { url } = await signInSetup();
    const browser = new TestBrowser();
    const back = (await signIn(browser, url, 'ada', { stop: isCallback })).url;
    for (const page of [`${url}/console/sign-in`, back]) {
      expect((await browser.send(page, { method: 'HEAD' })).status).toBeGreaterThanOrEqual(400);
    }
    expect(browser.cookies.has('actlog-sign-in')).toBe(false);
    // The code was not used.
    expect((await browser.open(back)).url).toBe(`${url}/console/#/`);
  });

  test('with an altered attempt', async () => {
    const { url } = await signInSetup();
    const browser = new TestBrowser();
    const back = (await signIn(browser, url, 'ada', { stop: isCallback })).url;
    const attempt = browser.cookies.get('actlog-sign-in-attempt') as string;
    browser.cookies.set(
      'actlog-sign-in-attempt',
      `${attempt.startsWith('A') ? 'B' : 'A'}${attempt.slice(1)}`,
    );
    expect(await errorPage(await browser.open(back), 400)).toContain('no longer valid');
  });

  test('after a quarter of an hour at the provider', async () => {
    const { url } = await signInSetup();
    const browser = new TestBrowser();
    const back = (await signIn(browser, url, 'ada', { stop: isCallback })).url;
    vi.useFakeTimers({ toFake: ['Date'], now: Date.now() + 15 * 60_000 });
    expect(await errorPage(await browser.open(back), 400)).toContain('It took too long');
  });

  test('after too many failures from one address', async () => {
    const { url } = await signInSetup({ invalidKeyLimit: { requestsPerSecond: 0.01, burst: 2 } });
    const browser = new TestBrowser();
    const fail = () => browser.open(`${url}/console/sign-in/callback?code=a&state=b`);
    for (const status of [400, 400]) await errorPage(await fail(), status);
    const limited = await fail();
    await errorPage(limited, 429);
    expect(Number(limited.response.headers.get('retry-after'))).toBeGreaterThan(90);
  });

  test('without asking the provider, once the address is limited', async () => {
    const { url } = await signInSetup({ invalidKeyLimit: { requestsPerSecond: 0.01, burst: 1 } });
    const browser = new TestBrowser();
    const back = (await signIn(browser, url, 'ada', { stop: isCallback })).url;
    await errorPage(await new TestBrowser().open(`${url}/console/sign-in/callback`), 400);
    await errorPage(await browser.open(back), 429);
    expect(browser.cookies.has('actlog-sign-in')).toBe(false);
  });
});

describe('a provider that is down', () => {
  test('does not keep the server from starting and being ready, and gets a page of its own', async () => {
    const publicUrl = 'http://127.0.0.1:8787';
    const oidcIssuer = `http://127.0.0.1:${await freePort()}`;
    const { server } = await testServer({ publicUrl, oidcIssuer, oidcClientId: 'actlog', roles });
    expect((await fetch(`${server.url}/readyz`)).status).toBe(200);
    const html = await errorPage(await new TestBrowser().open(`${server.url}/console/sign-in`), 502);
    expect(html).toContain('The sign-in service is not available');
  });

  test('is used once it is back', async () => {
    let isBroken = true;
    const { provider } = await signInSetup();
    const front = createServer(async (request, response) => {
      if (isBroken) return response.writeHead(503).end();
      const { issuer } = provider;
      const text = await (await fetch(`${issuer}${request.url}`)).text();
      response.setHeader('content-type', 'application/json');
      return response.end(text.replaceAll(issuer, address()));
    });
    const address = () => `http://127.0.0.1:${(front.address() as AddressInfo).port}`;
    await new Promise<void>((listening) => front.listen(0, '127.0.0.1', listening));
    atTestEnd(async () => void front.close());
    const { server } = await testServer({
      publicUrl: 'http://127.0.0.1:8787',
      ...provider.settings,
      oidcIssuer: address(),
      roles,
    });
    const browser = new TestBrowser();
    await errorPage(await browser.open(`${server.url}/console/sign-in`), 502);
    isBroken = false;
    expect((await browser.send(`${server.url}/console/sign-in`)).status).toBe(303);
  });

  test('that refuses the client secret gets the same page', async () => {
    const { url } = await signInSetup({ oidcClientSecret: 'wrong' });
    const html = await errorPage(await signIn(new TestBrowser(), url, 'ada'), 502);
    expect(html).not.toContain('invalid_client');
  });
});
