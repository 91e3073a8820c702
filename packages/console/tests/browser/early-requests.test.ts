import type { Page } from 'playwright-core';
import { describe, expect, test } from 'vitest';

import { ConsoleServer } from './console-server.ts';
import { ConsoleTab } from './console-tab.ts';

const payload = { toolName: 'refund', argumentsHash: 'sha256:aa', responseStatus: 500 };

/** Returns the paths of the data that a page requests, as it requests them. */
function requested(page: Page): string[] {
  const paths: string[] = [];
  page.on('request', (request) => {
    const { pathname, search } = new URL(request.url());
    const isFile = /^\/console\/[^/]*$/.test(pathname);
    if (!isFile) paths.push(pathname + search.replace(/since=[^&]*/, 'since='));
  });
  return paths;
}

/** Opens a page of the console in a tab that keeps a key. */
async function visit(tab: ConsoleTab, url: string, apiKey: string, place: string): Promise<void> {
  await tab.page.goto(`${url}/console/licenses.txt`);
  await tab.page.evaluate(`sessionStorage.setItem('actlog.apiKey', ${JSON.stringify(apiKey)})`);
  await tab.page.goto(`${url}/console/#${place}`);
}

describe('first requests of a page', () => {
  test.each([
    [
      '/',
      [
        '/console/api/identity',
        '/server/v1/overview?since=&interval=hour',
        '/v1/guardian/pending-actions?limit=5',
      ],
      '.totals b',
    ],
    ['/sessions', ['/console/api/identity', '/v1/sessions'], '.session-list th a'],
    [
      '/sessions/order-1',
      [
        '/console/api/identity',
        '/v1/sessions/order-1?limit=1',
        '/v1/sessions/order-1/risk',
        '/server/v1/sessions/order-1/marks',
        '/v1/sessions/order-1?limit=200',
      ],
      '.key-calls li',
    ],
  ])('of %s are sent before its script has arrived, and only once', async (place, first, content) => {
    const server = await ConsoleServer.create();
    await server.record({ sessionId: 'order-1', payload });
    const tab = await ConsoleTab.blank(server.server.url);
    const { page } = tab;
    const paths = requested(page);
    let release = () => {};
    const held = new Promise<void>((resolve) => {
      release = resolve;
    });
    await page.route('**/chunk-*.js', async (route) => {
      await held;
      await route.continue();
    });
    const opened = visit(tab, server.server.url, server.apiKey, place);
    await expect.poll(() => paths).toEqual(first);
    release();
    await opened;
    await page.locator(content).first().waitFor();
    for (const path of first) expect([path, paths.filter((one) => one === path).length]).toEqual([path, 1]);
  });

  test('with a rejected key are not used for the key that the user enters next', async () => {
    const server = await ConsoleServer.create();
    const tab = await ConsoleTab.blank(server.server.url);
    await visit(tab, server.server.url, `${server.apiKey.slice(0, -4)}AAAA`, '/');
    await tab.page.getByRole('alert').waitFor();
    await tab.page.getByLabel('API key').fill(server.apiKey);
    await tab.page.getByRole('button', { name: 'Sign in' }).click();
    await tab.page.getByText('No agent has sent an event yet.').waitFor();
  });

  test('use the key of a link only if the tab keeps none', async () => {
    const server = await ConsoleServer.create();
    const tab = await ConsoleTab.blank(server.server.url);
    const keys = new Set<string | undefined>();
    tab.page.on('request', (request) => keys.add(request.headers().authorization));
    await visit(tab, server.server.url, server.apiKey, '/key=al_test_other');
    await tab.page.goto('about:blank');
    await tab.page.goto(`${server.server.url}/console/#key=al_test_other`);
    await tab.page.getByRole('dialog').waitFor();
    keys.delete(undefined);
    expect([...keys]).toEqual([`Bearer ${server.apiKey}`]);
  });
});
