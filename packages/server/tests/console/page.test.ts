import { createServer, request as send } from 'node:http';
import type { AddressInfo } from 'node:net';
import { consoleSite } from '@actlog/console';
import { describe, expect, test } from 'vitest';
import type { RunningServer } from '../../src/index.ts';
import { atTestEnd } from '../test-end.ts';
import { testServer } from '../test-server.ts';
import { ConsoleTab, hasBrowser, insecureAddress, useBrowser } from './console-tab.ts';

test('the files of the page are served under a policy that lets nothing else run', async () => {
  const { server } = await testServer();
  for (const [name, { type, body }] of Object.entries(await consoleSite())) {
    const answer = await fetch(`${server.url}/console/${name}`);
    expect([answer.status, answer.headers.get('content-type')]).toEqual([200, type]);
    expect(answer.headers.get('content-security-policy')).toContain("script-src 'self';");
    expect(await answer.text()).toBe(body);
  }
});

test.each(['/', '/console'])('%s leads to the page', async (path) => {
  const { server } = await testServer({ docs: true });
  const answer = await fetch(`${server.url}${path}`);
  expect(answer.url).toBe(`${server.url}/console/`);
  expect(await answer.text()).toContain('<title>actlog</title>');
});

test.each([
  'package.json',
  '..%2fpackage.json',
  '%2e%2e%2f%2e%2e%2fpackage.json',
  '__proto__',
  'constructor',
  'toString',
])('there is no file /console/%s', async (name) => {
  const { server } = await testServer();
  expect((await fetch(`${server.url}/console/${name}`)).status).toBe(404);
});

test('without the console the first page is the reference, or nothing', async () => {
  const { server } = await testServer({ console: false, docs: true });
  expect((await fetch(`${server.url}/`)).url).toBe(`${server.url}/docs/`);
  expect((await fetch(`${server.url}/console/`)).status).toBe(404);
  const bare = await testServer({ console: false, docs: false });
  expect((await fetch(`${bare.server.url}/`)).status).toBe(404);
});

/** A proxy that serves `url` below a path, but for what it hides; closed after the test. */
async function proxied(url: string, below: string, isHidden = (_path: string) => false): Promise<string> {
  const proxy = createServer((request, response) => {
    const { method, headers } = request;
    const { url: asked = '/' } = request;
    const path = asked.slice(below.length) || '/';
    const target = isHidden(path) || !asked.startsWith(below) ? '/nowhere' : path;
    const forwarded = send(`${url}${target}`, { method, headers }, (answer) => {
      response.writeHead(answer.statusCode ?? 500, answer.headers);
      answer.pipe(response);
    });
    request.pipe(forwarded);
  });
  await new Promise<void>((resolve) => proxy.listen(0, '127.0.0.1', resolve));
  atTestEnd(async () => {
    proxy.closeAllConnections();
    proxy.close();
  });
  return `http://127.0.0.1:${(proxy.address() as AddressInfo).port}${below}`;
}

test.each([
  ['/', '/console/'],
  ['/console', '/console/'],
  ['/docs', '/docs/'],
])('below a path of a proxy %s leads to %s', async (path, page) => {
  const { server } = await testServer({ docs: true });
  const url = await proxied(server.url, '/actlog');
  const answer = await fetch(url + path);
  expect([answer.status, answer.url]).toEqual([200, url + page]);
});

test('the reference finds its document below a path of a proxy', async () => {
  const { server } = await testServer({ docs: true });
  const page = await fetch(`${await proxied(server.url, '/actlog')}/docs/`);
  const [, document = ''] = /"url": "([^"]*)"/.exec(await page.text()) ?? [];
  expect(await (await fetch(new URL(document, page.url))).json()).toHaveProperty('openapi');
});

/** A tab in which somebody has begun a policy, and whose clock is the test's. */
async function tabOfPolicy(server: RunningServer, apiKey: string): Promise<ConsoleTab> {
  const tab = await ConsoleTab.blank(server.url);
  await tab.page.clock.install();
  await tab.page.goto(`${server.url}/console/#key=${apiKey}`);
  await tab.heading('Sessions');
  await tab.go('/policies/new');
  await tab.page.getByLabel('Name', { exact: true }).fill('Half a thought');
  return tab;
}

describe.skipIf(!hasBrowser)('in a browser', () => {
  useBrowser();

  test('a person signs in with a key, and out', async () => {
    const { server, apiKey } = await testServer();
    const tab = await ConsoleTab.blank(server.url);
    const { page } = tab;
    await page.goto(server.url);
    await page.getByLabel('API key').fill(` ${apiKey} `);
    await page.getByRole('button', { name: 'Sign in' }).click();
    await tab.heading('Sessions');
    await page.reload();
    await tab.heading('Sessions');
    await page.getByRole('button', { name: 'Sign out' }).click();
    await tab.heading('actlog');
    await page.reload();
    await tab.heading('actlog');
    expect(await page.evaluate('[sessionStorage.length, localStorage.length]')).toEqual([0, 0]);
  });

  test('a key that is refused is told, and not kept', async () => {
    const { server } = await testServer();
    const { page } = await ConsoleTab.blank(server.url);
    await page.goto(`${server.url}/console/`);
    await page.getByLabel('API key').fill('al_test_nobody');
    await page.getByRole('button', { name: 'Sign in' }).click();
    expect(await page.getByRole('alert').textContent()).toContain('The API key is invalid or missing.');
    expect(await page.evaluate('sessionStorage.length')).toBe(0);
  });

  test('the link of the start signs in, and the key leaves the address', async () => {
    const { server, apiKey } = await testServer();
    const { page } = await ConsoleTab.open(server.url, apiKey);
    expect(page.url()).toBe(`${server.url}/console/#/`);
    expect(await page.content()).not.toContain(apiKey);
  });

  test.each(['al_test_nobody', 'al.live%20x', '%E0%A4', ''])(
    'a link with the key “%s” does not keep it in the address',
    async (key) => {
      const { server, apiKey } = await testServer();
      const tab = await ConsoleTab.open(server.url, apiKey);
      await tab.page.goto(`${server.url}/console/#key=${key}`);
      await tab.heading(key === '' ? 'Sessions' : 'actlog');
      expect(tab.page.url()).toBe(`${server.url}/console/#/`);
      expect(await tab.page.title()).toBe(key === '' ? 'Sessions · actlog' : 'Sign in · actlog');
    },
  );

  test('a place that is gone to as soon as the page is drawn is shown', async () => {
    const server = await testServer();
    const tab = await ConsoleTab.blank(server.server.url);
    await tab.page.addInitScript(`new MutationObserver((_, observer) => {
      if (document.querySelector('h1')?.textContent !== 'Sessions') return;
      observer.disconnect();
      location.hash = '#/policies';
    }).observe(document, { childList: true, subtree: true })`);
    await tab.page.goto(`${server.server.url}/console/#key=${server.apiKey}`);
    await tab.heading('Policies');
  });

  test('a link that is opened in the tab of another key signs in with its own', async () => {
    const { server, apiKey } = await testServer();
    const other = await server.admin.createKey('default', { name: 'on duty', kind: 'test' });
    const tab = await ConsoleTab.open(server.url, apiKey, '/agents');
    await tab.heading('Agents');
    await tab.page.goto(`${server.url}/console/#key=${other.apiKey}`);
    await tab.page.getByText('on duty').waitFor();
    await tab.heading('Sessions');
    expect(tab.page.url()).toBe(`${server.url}/console/#/`);
  });

  test('a service that does not answer is no reason to ask for the key again', async () => {
    const { server, apiKey } = await testServer();
    const tab = await ConsoleTab.open(server.url, apiKey);
    const { page } = tab;
    await page.route('**/console/api/identity', (route) => route.fulfill({ status: 500, body: '' }));
    await page.reload();
    await page.getByRole('alert').waitFor();
    await page.unrouteAll();
    await page.getByRole('button', { name: 'Try again' }).click();
    await tab.heading('Sessions');
  });

  test('a late refusal of an earlier key leaves the new one signed in', async () => {
    const { server, apiKey } = await testServer();
    const earlier = await server.admin.createKey('default', { name: 'earlier', kind: 'test' });
    const tab = await ConsoleTab.open(server.url, earlier.apiKey, '/agents');
    const { page } = tab;
    const late = Promise.withResolvers<void>();
    await page.route('**/console/api/keys', async (route) => {
      if (route.request().method() === 'GET') return route.continue();
      await late.promise;
      await route.fulfill({ status: 401, body: '' });
    });
    await tab.go('/keys');
    await page.getByLabel('Name', { exact: true }).fill('x');
    await page.getByRole('button', { name: 'Create' }).click();
    await page.getByRole('button', { name: 'Sign out' }).click();
    await page.getByLabel('API key').fill(apiKey);
    await page.getByRole('button', { name: 'Sign in' }).click();
    await tab.heading('Keys');
    late.resolve();
    await page.unrouteAll({ behavior: 'wait' });
    await page.getByRole('link', { name: 'Webhooks' }).click();
    await tab.heading('Webhooks');
    await page.getByText('No webhook yet.').waitFor();
    expect(await page.evaluate('sessionStorage.length')).toBe(1);
  });

  test('a key that ends while it is in use leads back to the sign-in', async () => {
    const { server } = await testServer();
    const { apiKey, key } = await server.admin.createKey('default', { name: 'on duty', kind: 'test' });
    const tab = await ConsoleTab.open(server.url, apiKey);
    await server.admin.revokeKey('default', key.id);
    await tab.go('/agents');
    await tab.heading('actlog');
    expect(await tab.page.getByRole('alert').textContent()).toContain('no longer valid');
  });

  test('what was typed when a key ended is there for who signs in again', async () => {
    const { server } = await testServer();
    const { apiKey, key } = await server.admin.createKey('default', { name: 'on duty', scopes: ['manage'] });
    const next = await server.admin.createKey('default', { name: 'next', scopes: ['manage', 'read'] });
    const { page } = await tabOfPolicy(server, apiKey);
    await server.admin.revokeKey('default', key.id);
    await page.getByRole('button', { name: 'Create' }).click();
    await page.getByRole('heading', { level: 1, name: 'actlog' }).waitFor();
    expect(await page.getByRole('alert').textContent()).toContain('Sign in again');
    const asked: string[] = [];
    page.on('request', (request) => asked.push(request.url()));
    await page.clock.runFor(60_000);
    expect(asked).toEqual([]);
    await page.getByLabel('API key').fill('al_test_mistyped');
    await page.getByRole('button', { name: 'Sign in' }).click();
    await page.getByRole('alert').getByText('invalid or missing').waitFor();
    await page.getByLabel('API key').fill(next.apiKey);
    await page.getByRole('button', { name: 'Sign in' }).click();
    await page.getByRole('heading', { level: 1, name: 'New policy' }).waitFor();
    await expect
      .poll(() => page.evaluate('[document.title, document.activeElement.tagName]'))
      .toEqual(['new · Policies · actlog', 'MAIN']);
    expect(await page.evaluate('[sessionStorage.length, localStorage.length]')).toEqual([1, 0]);
    await page.getByRole('button', { name: 'Create' }).click();
    await page.getByRole('heading', { level: 1, name: 'Half a thought' }).waitFor();
  });

  test.each<[string, (server: RunningServer) => Promise<string>]>([
    [
      'of another tenant',
      async ({ admin }) => {
        await admin.createTenant('rival');
        return (await admin.createKey('rival', { name: 'r' })).apiKey;
      },
    ],
    [
      'that may do less',
      async ({ admin }) => (await admin.createKey('default', { name: 'r', scopes: ['read'] })).apiKey,
    ],
  ])('what was typed when a key ended is gone for a key %s', async (_whose, otherKey) => {
    const { server } = await testServer();
    const { apiKey, key } = await server.admin.createKey('default', { name: 'on duty' });
    const { page } = await tabOfPolicy(server, apiKey);
    await server.admin.revokeKey('default', key.id);
    await page.getByRole('button', { name: 'Create' }).click();
    await page.getByLabel('API key').fill(await otherKey(server));
    await page.getByRole('button', { name: 'Sign in' }).click();
    await page.getByRole('heading', { level: 1, name: 'New policy' }).waitFor();
    expect(await page.getByLabel('Name', { exact: true }).inputValue()).toBe('');
  });

  test('what was typed is gone for who signed out', async () => {
    const { server, apiKey } = await testServer();
    const { page } = await tabOfPolicy(server, apiKey);
    await page.getByRole('button', { name: 'Sign out' }).click();
    await page.getByLabel('Name', { exact: true }).waitFor({ state: 'detached' });
  });

  test('it works below a path of a proxy', async () => {
    const { server, apiKey } = await testServer();
    const tab = await ConsoleTab.open(await proxied(server.url, '/actlog'), apiKey, '/policies');
    await tab.heading('Policies');
    await tab.page.getByText('No policy is active').waitFor();
  });

  test('it works over plain HTTP, where browsers make no UUID', async () => {
    const { server, apiKey } = await testServer();
    const { page } = await ConsoleTab.open(insecureAddress(server.url), apiKey, '/policies/new');
    expect(await page.evaluate('isSecureContext')).toBe(false);
    await page.getByLabel('Name', { exact: true }).fill('No refunds');
    await page.getByRole('button', { name: 'Create' }).click();
    await page.getByRole('heading', { level: 1, name: 'No refunds' }).waitFor();
  });

  test('it works on a service that keeps the specification and knows nothing of the console', async () => {
    const { server, apiKey } = await testServer();
    const url = await proxied(server.url, '', (path) => path.startsWith('/console/api/'));
    const tab = await ConsoleTab.open(url, apiKey, '/agents');
    await tab.heading('Agents');
    expect(await tab.page.getByRole('link', { name: 'Keys' }).count()).toBe(0);
  });

  test('a key that may not read is told which scope it lacks', async () => {
    const { server } = await testServer();
    const { apiKey } = await server.admin.createKey('default', { name: 'agent', scopes: ['ingest'] });
    const { page } = await ConsoleTab.open(server.url, apiKey);
    await page.getByRole('alert').getByText('lacks the scope "read"').waitFor();
  });

  test.each([
    ['refuses its storage', "throw new DOMException('Cookies are blocked.', 'SecurityError')"],
    ['has none, as Firefox where it is turned off', 'return null'],
  ])('a browser that %s is no reason to let nobody in', async (_how, answer) => {
    const { server, apiKey } = await testServer();
    const tab = await ConsoleTab.blank(server.url);
    await tab.page.addInitScript(
      `Object.defineProperty(globalThis, 'sessionStorage', { get() { ${answer}; } })`,
    );
    await tab.page.goto(`${server.url}/console/#key=${apiKey}`);
    await tab.heading('Sessions');
    await tab.page.getByRole('button', { name: 'Sign out' }).click();
    await tab.heading('actlog');
  });

  test('it speaks one language, whatever the browser speaks', async () => {
    const server = await testServer();
    await server.record({});
    const {
      server: { url },
      apiKey,
    } = server;
    const { page } = await ConsoleTab.open(url, apiKey, '', { locale: 'ar-EG' });
    await page
      .locator('time')
      .first()
      .getByText(/now|ago/)
      .waitFor();
  });

  test('it works where a page is served for every path that nobody knows', async () => {
    const { server, apiKey } = await testServer();
    const tab = await ConsoleTab.blank(server.url);
    const html = { contentType: 'text/html', body: '<title>Welcome</title>' };
    await tab.page.route('**/console/api/**', (route) => route.fulfill(html));
    await tab.page.goto(`${server.url}/console/#key=${apiKey}`);
    await tab.heading('Sessions');
    await tab.go('/policies');
    await tab.page.getByRole('link', { name: 'New policy' }).waitFor();
  });
});
