import type { Page, Route } from 'playwright-core';
import { describe, expect, test } from 'vitest';
import { type TestServer, testServer } from '../test-server.ts';
import { ConsoleTab, hasBrowser, useBrowser } from './console-tab.ts';

/** The sessions of a server that has none yet, in a tab whose clock the test moves. */
async function clockedConsole(): Promise<{ server: TestServer; page: Page }> {
  const server = await testServer();
  const { page } = await ConsoleTab.blank(server.server.url);
  await page.clock.install();
  await page.goto(`${server.server.url}/console/#key=${server.apiKey}`);
  await page.getByText('No agent has sent an event yet.').waitFor();
  return { server, page };
}

describe.skipIf(!hasBrowser)('what the console asks for by itself', () => {
  useBrowser();

  test('is waited for, however slow the service is', async () => {
    const { server, page } = await clockedConsole();
    const held: Route[] = [];
    await page.route('**/v1/sessions*', (route) => void held.push(route));
    await server.record({ sessionId: 'late' });
    await page.clock.runFor(21_000);
    await expect.poll(() => held.length).toBeGreaterThan(0);
    await held[0]?.continue();
    await page.getByRole('link', { name: 'late' }).waitFor();
  });

  test('comes at once when the person comes back to the tab, and not before', async () => {
    const { server, page } = await clockedConsole();
    const turn = (state: string) =>
      page.evaluate((visibilityState) => {
        const page = (globalThis as unknown as { document: EventTarget }).document;
        Object.defineProperty(page, 'visibilityState', { value: visibilityState, configurable: true });
        page.dispatchEvent(new Event('visibilitychange'));
      }, state);
    await turn('hidden');
    let asked = 0;
    page.on('request', () => {
      asked += 1;
    });
    await server.record({ sessionId: 'meanwhile' });
    await page.clock.runFor(60_000);
    expect(asked).toBe(0);
    await page.clock.pauseAt(Date.now() + 120_000);
    await turn('visible');
    await page.getByRole('link', { name: 'meanwhile' }).waitFor();
  });

  const url = 'https://hooks.example.com/new';
  test.each<[string, string, string, (server: TestServer) => Promise<unknown>]>([
    ['policies', 'No policy is active', 'new', (server) => server.policy({ name: 'new' })],
    ['agents', 'No agent was seen', 'new', (server) => server.record({ agentId: 'new' })],
    [
      'webhooks',
      'No webhook yet',
      url,
      (server) => server.ok('notificationChannels.create', { body: { url } }),
    ],
    ['keys', 'Last used', 'new', ({ server }) => server.admin.createKey('default', { name: 'new' })],
  ])('comes on the page of %s too, where others make changes', async (place, before, after, change) => {
    const { server, page } = await clockedConsole();
    await page.goto(`${server.server.url}/console/#/${place}`);
    await page.getByText(before).first().waitFor();
    await change(server);
    await page.clock.runFor(11_000);
    await page.getByRole('rowheader', { name: after }).waitFor();
  });

  test('comes, where what it is about changes faster than the service answers', async () => {
    const { server, page } = await clockedConsole();
    await server.record({ sessionId: 'busy' });
    const held: Route[] = [];
    await page.route('**/v1/sessions/*/risk', (route) => void held.push(route));
    await page.goto(`${server.server.url}/console/#/sessions/busy`);
    await expect.poll(() => held.length).toBe(1);
    await server.record({ sessionId: 'busy' });
    await page.clock.runFor(6000);
    await page.locator('dd').getByText('2', { exact: true }).waitFor();
    await held[0]?.continue();
    await page.getByRole('table', { name: 'Risk by dimension' }).waitFor();
    await expect.poll(() => held.length).toBe(2);
  });
});
