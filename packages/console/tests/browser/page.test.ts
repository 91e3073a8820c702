import { createServer, request as send } from 'node:http';
import type { AddressInfo } from 'node:net';
import { consoleSite } from '@actlog/console';
import type { RunningServer } from '@actlog/server';
import { describe, expect, test } from 'vitest';
import { atTestEnd } from '../../../server/tests/test-end.ts';
import { testServer } from '../../../server/tests/test-server.ts';
import { ConsoleServer } from './console-server.ts';
import { ConsoleTab, insecureAddress } from './console-tab.ts';

test('serves the files of the page under a policy that lets nothing else run', async () => {
  const { server } = await ConsoleServer.create();
  for (const [name, { type, body }] of Object.entries(await consoleSite())) {
    const response = await fetch(`${server.url}/console/${name}`);
    expect([response.status, response.headers.get('content-type')]).toEqual([200, type]);
    expect(response.headers.get('content-security-policy')).toContain("script-src 'self';");
    expect(await response.text()).toBe(body);
  }
});

test.each(['br', 'gzip', 'identity'])(
  'serves the files encoded as %s, and revalidates them',
  async (encoding) => {
    const { server } = await ConsoleServer.create();
    for (const [name, file] of Object.entries(await consoleSite())) {
      const get = (headers: Record<string, string>) =>
        fetch(`${server.url}/console/${name}`, { headers: { 'accept-encoding': encoding, ...headers } });
      const response = await get({});
      expect(await response.text()).toBe(file.body);
      expect(response.headers.get('content-encoding') ?? 'identity').toBe(encoding);
      expect(response.headers.get('vary')).toBe('accept-encoding');
      expect(response.headers.get('cache-control')).toBe(file.cacheControl);
      const etag = response.headers.get('etag') ?? '';
      expect((await get({ 'if-none-match': `"other", W/${etag}` })).status).toBe(304);
      expect((await get({ 'if-none-match': '"other"' })).status).toBe(200);
    }
  },
);

test('serves a file as it is to a client that refuses its encodings', async () => {
  const { server } = await ConsoleServer.create();
  const headers = { 'accept-encoding': 'br;q=0, gzip;q=0.0' };
  const response = await fetch(`${server.url}/console/`, { headers });
  expect(response.headers.get('content-encoding')).toBeNull();
});

test.each(['/', '/console'])('redirects %s to the page', async (path) => {
  const { server } = await testServer({ docs: true });
  const response = await fetch(`${server.url}${path}`);
  expect(response.url).toBe(`${server.url}/console/`);
  expect(await response.text()).toContain('<title>actlog</title>');
});

test.each([
  'package.json',
  '..%2fpackage.json',
  '%2e%2e%2f%2e%2e%2fpackage.json',
  '__proto__',
  'constructor',
  'toString',
])('returns 404 for /console/%s', async (name) => {
  const { server } = await ConsoleServer.create();
  expect((await fetch(`${server.url}/console/${name}`)).status).toBe(404);
});

test('redirects to the reference, or nowhere, without the console', async () => {
  const { server } = await testServer({ console: false, docs: true });
  expect((await fetch(`${server.url}/`)).url).toBe(`${server.url}/docs/`);
  expect((await fetch(`${server.url}/console/`)).status).toBe(404);
  const bare = await testServer({ console: false, docs: false });
  expect((await fetch(`${bare.server.url}/`)).status).toBe(404);
});

/** Starts a proxy that serves `url` below a path, except hidden paths; closed after the test. */
async function proxied(url: string, below: string, isHidden = (_path: string) => false): Promise<string> {
  const proxy = createServer((request, response) => {
    const { method, headers } = request;
    const { url: requested = '/' } = request;
    const path = requested.slice(below.length) || '/';
    const target = isHidden(path) || !requested.startsWith(below) ? '/nowhere' : path;
    const forwarded = send(`${url}${target}`, { method, headers }, (upstream) => {
      response.writeHead(upstream.statusCode ?? 500, upstream.headers);
      upstream.pipe(response);
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
])('redirects below the path of a proxy: %s to %s', async (path, page) => {
  const { server } = await testServer({ docs: true });
  const url = await proxied(server.url, '/actlog');
  expect((await fetch(url + path)).url).toBe(url + page);
});

/** Opens a tab with a partly written policy, whose clock the test controls. */
async function tabOfPolicy(server: RunningServer, apiKey: string): Promise<ConsoleTab> {
  const tab = await ConsoleTab.blank(server.url);
  await tab.page.clock.install();
  await tab.page.goto(`${server.url}/console/#key=${apiKey}`);
  await tab.heading('Overview');
  await tab.go('/policies/new');
  await tab.page.getByLabel('Name', { exact: true }).fill('Half a thought');
  return tab;
}

describe('in a browser', () => {
  test('signs in with a key, and out', async () => {
    const { server, apiKey } = await ConsoleServer.create();
    const tab = await ConsoleTab.blank(server.url);
    const { page } = tab;
    await page.goto(server.url);
    await page.getByLabel('API key').fill(` ${apiKey} `);
    await page.getByRole('button', { name: 'Sign in' }).click();
    await tab.heading('Overview');
    await page.reload();
    await tab.heading('Overview');
    await page.getByRole('button', { name: 'Sign out' }).click();
    await tab.heading('actlog');
    await page.reload();
    await tab.heading('actlog');
    expect(await page.evaluate('[sessionStorage.length, localStorage.length]')).toEqual([0, 0]);
  });

  test('reports a refused key, and does not keep it', async () => {
    const { server } = await ConsoleServer.create();
    const { page } = await ConsoleTab.blank(server.url);
    await page.goto(`${server.url}/console/`);
    await page.getByLabel('API key').fill('al_test_nobody');
    await page.getByRole('button', { name: 'Sign in' }).click();
    await expect
      .poll(() => page.getByRole('alert').textContent())
      .toContain('The API key is invalid or missing.');
    expect(await page.evaluate('sessionStorage.length')).toBe(0);
  });

  test('signs in by the link of the start, and removes the key from the address', async () => {
    const { server, apiKey } = await ConsoleServer.create();
    const { page } = await ConsoleTab.open(server.url, apiKey, '/');
    expect(page.url()).toBe(`${server.url}/console/#/`);
    expect(await page.content()).not.toContain(apiKey);
  });

  test.each(['al_test_nobody', 'al.live%20x', '%E0%A4', ''])(
    'removes the key “%s” of a link from the address, and stays signed in',
    async (key) => {
      const { server, apiKey } = await ConsoleServer.create();
      const tab = await ConsoleTab.open(server.url, apiKey);
      await tab.page.goto(`${server.url}/console/#key=${key}`);
      if (key !== '') await tab.page.getByRole('button', { name: 'Keep the current key' }).click();
      await tab.heading('Overview');
      expect(tab.page.url()).toBe(`${server.url}/console/#/`);
      expect(await tab.page.title()).toBe('Overview · actlog');
      expect(await tab.page.getByRole('dialog').count()).toBe(0);
    },
  );

  test('removes a key that the service refuses from the address', async () => {
    const { server } = await ConsoleServer.create();
    const tab = await ConsoleTab.blank(server.url);
    await tab.page.goto(`${server.url}/console/#key=al_test_nobody`);
    await tab.heading('actlog');
    expect(tab.page.url()).toBe(`${server.url}/console/#/`);
    expect(await tab.page.title()).toBe('Sign in · actlog');
  });

  test('shows a page that is opened as soon as the first one is rendered', async () => {
    const server = await ConsoleServer.create();
    const tab = await ConsoleTab.blank(server.server.url);
    await tab.page.addInitScript(`new MutationObserver((_, observer) => {
      if (document.querySelector('h1')?.textContent !== 'Overview') return;
      observer.disconnect();
      location.hash = '#/policies';
    }).observe(document, { childList: true, subtree: true })`);
    await tab.page.goto(`${server.server.url}/console/#key=${server.apiKey}`);
    await tab.heading('Policies');
  });

  test.each(['in the open page', 'as the page loads'])(
    'asks before a link replaces the signed-in key (%s)',
    async (when) => {
      const { server, apiKey } = await ConsoleServer.create();
      const other = await server.admin.keys.create(server.tenant, { name: 'on duty', kind: 'test' });
      const tab = await ConsoleTab.open(server.url, apiKey, '/agents');
      await tab.heading('Agents');
      const { page } = tab;
      const open = async () => {
        if (when === 'as the page loads') await page.goto('about:blank');
        await page.goto(`${server.url}/console/#key=${other.apiKey}`);
        await page.getByRole('dialog').getByText(`startServer, ${server.tenant}`).waitFor();
        expect(page.url()).toBe(`${server.url}/console/#/`);
      };
      await open();
      expect(await tab.accessibilityFaults()).toEqual([]);
      await page.keyboard.press('Escape');
      await page.getByRole('dialog').waitFor({ state: 'detached' });
      await page.reload();
      await tab.heading('Overview');
      expect(await page.getByText('on duty').count()).toBe(0);
      await open();
      await page.getByRole('button', { name: 'Use the key in the link' }).click();
      await page.getByText('on duty').waitFor();
      await tab.heading('Overview');
      expect(await page.getByRole('dialog').count()).toBe(0);
    },
  );

  test('uses the key of a link at once when the key of the tab is refused', async () => {
    const { server, apiKey } = await ConsoleServer.create();
    const old = await server.admin.keys.create(server.tenant, { name: 'old', kind: 'test' });
    const tab = await ConsoleTab.open(server.url, old.apiKey);
    await server.admin.keys.revoke(server.tenant, old.apiKey.slice(8, 18));
    await tab.page.goto('about:blank');
    await tab.page.goto(`${server.url}/console/#key=${apiKey}`);
    await tab.page.getByText('startServer').waitFor();
    expect(await tab.page.getByRole('dialog').count()).toBe(0);
  });

  test('does not ask for the key again when the service does not respond', async () => {
    const { server, apiKey } = await ConsoleServer.create();
    const tab = await ConsoleTab.open(server.url, apiKey);
    const { page } = tab;
    await page.route('**/console/api/identity', (route) => route.fulfill({ status: 500, body: '' }));
    await page.reload();
    await page.getByRole('alert').waitFor();
    await page.unrouteAll();
    await page.getByRole('button', { name: 'Try again' }).click();
    await tab.heading('Sessions');
  });

  test('keeps the new key signed in after a late refusal of an earlier one', async () => {
    const { server, apiKey } = await ConsoleServer.create();
    const earlier = await server.admin.keys.create(server.tenant, { name: 'earlier', kind: 'test' });
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

  test('returns to the sign-in when a key ends during use', async () => {
    const { server } = await ConsoleServer.create();
    const { apiKey, key } = await server.admin.keys.create(server.tenant, { name: 'on duty', kind: 'test' });
    const tab = await ConsoleTab.open(server.url, apiKey);
    await server.admin.keys.revoke(server.tenant, key.id);
    await tab.go('/agents');
    await tab.heading('actlog');
    await expect.poll(() => tab.page.getByRole('alert').textContent()).toContain('no longer valid');
  });

  test('keeps typed text for a new sign-in after the key ended', async () => {
    const { server } = await ConsoleServer.create();
    const { apiKey, key } = await server.admin.keys.create(server.tenant, {
      name: 'on duty',
      scopes: ['manage'],
    });
    const next = await server.admin.keys.create(server.tenant, { name: 'next', scopes: ['manage', 'read'] });
    const { page } = await tabOfPolicy(server, apiKey);
    await server.admin.keys.revoke(server.tenant, key.id);
    await page.getByRole('button', { name: 'Create' }).click();
    await page.getByRole('heading', { level: 1, name: 'actlog' }).waitFor();
    await expect.poll(() => page.getByRole('alert').textContent()).toContain('Sign in again');
    const requested: string[] = [];
    page.on('request', (request) => requested.push(request.url()));
    await page.clock.runFor(60_000);
    expect(requested).toEqual([]);
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

  test.each<[string, (server: ConsoleServer['server']) => Promise<string>]>([
    [
      'of another tenant',
      async ({ admin }) => {
        const { tenant } = await ConsoleServer.create();
        return (await admin.keys.create(tenant, { name: 'r' })).apiKey;
      },
    ],
    [
      'that may do less',
      async ({ admin, tenant }) => (await admin.keys.create(tenant, { name: 'r', scopes: ['read'] })).apiKey,
    ],
  ])('drops typed text after the key ended, for a key %s', async (_whose, otherKey) => {
    const { server } = await ConsoleServer.create();
    const { apiKey, key } = await server.admin.keys.create(server.tenant, { name: 'on duty' });
    const { page } = await tabOfPolicy(server, apiKey);
    await server.admin.keys.revoke(server.tenant, key.id);
    await page.getByRole('button', { name: 'Create' }).click();
    await page.getByLabel('API key').fill(await otherKey(server));
    await page.getByRole('button', { name: 'Sign in' }).click();
    await page.getByRole('heading', { level: 1, name: 'New policy' }).waitFor();
    await expect.poll(() => page.getByLabel('Name', { exact: true }).inputValue()).toBe('');
  });

  test('drops typed text on sign-out', async () => {
    const { server, apiKey } = await ConsoleServer.create();
    const { page } = await tabOfPolicy(server, apiKey);
    await page.getByRole('button', { name: 'Sign out' }).click();
    await page.getByLabel('Name', { exact: true }).waitFor({ state: 'detached' });
  });

  test('works below the path of a proxy', async () => {
    const { server, apiKey } = await ConsoleServer.create();
    const tab = await ConsoleTab.open(await proxied(server.url, '/actlog'), apiKey, '/policies');
    await tab.heading('Policies');
    await tab.page.getByText('No policy is active').waitFor();
  });

  test('works over plain HTTP, where browsers cannot create UUIDs', async () => {
    const { server, apiKey } = await ConsoleServer.create();
    const { page } = await ConsoleTab.open(insecureAddress(server.url), apiKey, '/policies/new');
    expect(await page.evaluate('isSecureContext')).toBe(false);
    await page.getByLabel('Name', { exact: true }).fill('No refunds');
    await page.getByLabel('Tools').fill('refund');
    await page.getByRole('button', { name: 'Create' }).click();
    await page.getByRole('heading', { level: 1, name: 'No refunds' }).waitFor();
  });

  test('works on any service that follows the specification', async () => {
    const { server, apiKey } = await ConsoleServer.create();
    const url = await proxied(server.url, '', (path) => path.startsWith('/console/api/'));
    const tab = await ConsoleTab.open(url, apiKey, '/agents');
    await tab.heading('Agents');
    expect(await tab.page.getByRole('link', { name: 'Keys' }).count()).toBe(0);
  });

  test('names the missing scope of a key that may not read', async () => {
    const { server } = await ConsoleServer.create();
    const { apiKey } = await server.admin.keys.create(server.tenant, { name: 'agent', scopes: ['ingest'] });
    const { page } = await ConsoleTab.open(server.url, apiKey);
    await page.getByRole('alert').getByText('lacks the scope "read"').waitFor();
  });

  test.each([
    ['refuses its storage', "throw new DOMException('Cookies are blocked.', 'SecurityError')"],
    ['has none, as Firefox where it is turned off', 'return null'],
  ])('works in a browser that %s', async (_how, response) => {
    const { server, apiKey } = await ConsoleServer.create();
    const tab = await ConsoleTab.blank(server.url);
    await tab.page.addInitScript(
      `Object.defineProperty(globalThis, 'sessionStorage', { get() { ${response}; } })`,
    );
    await tab.page.goto(`${server.url}/console/#key=${apiKey}`);
    await tab.heading('Overview');
    await tab.page.getByRole('button', { name: 'Sign out' }).click();
    await tab.heading('actlog');
  });

  test("uses one language, whatever the browser's language", async () => {
    const server = await ConsoleServer.create();
    await server.record({});
    const {
      server: { url },
      apiKey,
    } = server;
    const { page } = await ConsoleTab.open(url, apiKey, '/sessions', { locale: 'ar-EG' });
    await page
      .locator('time')
      .first()
      .getByText(/now|ago/)
      .waitFor();
  });

  test('works where a page is served for every unknown path', async () => {
    const { server, apiKey } = await ConsoleServer.create();
    const tab = await ConsoleTab.blank(server.url);
    const html = { contentType: 'text/html', body: '<title>Welcome</title>' };
    await tab.page.route('**/console/api/**', (route) => route.fulfill(html));
    await tab.page.goto(`${server.url}/console/#key=${apiKey}`);
    await tab.heading('Overview');
    await tab.go('/policies');
    await tab.page.getByRole('link', { name: 'New policy' }).waitFor();
  });
});
