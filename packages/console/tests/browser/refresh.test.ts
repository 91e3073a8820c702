import type { Page, Route } from 'playwright-core';
import { describe, expect, test } from 'vitest';

import { ConsoleServer } from './console-server.ts';
import { ConsoleTab } from './console-tab.ts';

/** Opens the sessions page of a server without sessions, in a tab whose clock the test controls. */
async function clockedConsole(): Promise<{ server: ConsoleServer; page: Page }> {
  const server = await ConsoleServer.create();
  const tab = await ConsoleTab.blank(server.server.url);
  const { page } = tab;
  await page.clock.install();
  await page.goto(`${server.server.url}/console/#key=${server.apiKey}`);
  await tab.heading('Overview');
  await tab.go('/sessions');
  await tab.heading('Sessions');
  await page.getByText('No agent has sent an event yet.').waitFor();
  return { server, page };
}

describe('automatic refresh', () => {
  test('waits for a slow service', async () => {
    const { server, page } = await clockedConsole();
    const held: Route[] = [];
    await page.route('**/v1/sessions*', (route) => void held.push(route));
    await server.record({ sessionId: 'late' });
    await page.clock.runFor(21_000);
    await expect.poll(() => held.length).toBeGreaterThan(0);
    await held[0]?.continue();
    await page.getByRole('link', { name: 'late' }).waitFor();
  });

  test('runs at once when the user returns to the tab, and not before', async () => {
    const { server, page } = await clockedConsole();
    const turn = (state: string) =>
      page.evaluate((visibilityState) => {
        const page = (globalThis as unknown as { document: EventTarget }).document;
        Object.defineProperty(page, 'visibilityState', { value: visibilityState, configurable: true });
        page.dispatchEvent(new Event('visibilitychange'));
      }, state);
    await turn('hidden');
    let requested = 0;
    page.on('request', () => {
      requested += 1;
    });
    await server.record({ sessionId: 'meanwhile' });
    await page.clock.runFor(60_000);
    expect(requested).toBe(0);
    await page.clock.pauseAt(Date.now() + 120_000);
    await turn('visible');
    await page.getByRole('link', { name: 'meanwhile' }).waitFor();
  });

  const url = 'https://hooks.example.com/new';
  test.each<[string, string, string, (server: ConsoleServer) => Promise<unknown>]>([
    ['policies', 'No policy is active', 'new', (server) => server.policy({ name: 'new' })],
    ['agents', 'No agent was seen', 'new', (server) => server.record({ agentId: 'new' })],
    [
      'webhooks',
      'No webhook yet',
      url,
      (server) => server.ok('notificationChannels.create', { body: { url } }),
    ],
    ['keys', 'Last used', 'new', ({ server, tenant }) => server.admin.keys.create(tenant, { name: 'new' })],
  ])('runs on the page of %s too, where others make changes', async (place, before, after, change) => {
    const { server, page } = await clockedConsole();
    await page.goto(`${server.server.url}/console/#/${place}`);
    await page.getByText(before).first().waitFor();
    await change(server);
    await page.clock.runFor(11_000);
    await page.getByRole('main').getByText(after, { exact: true }).waitFor();
  });

  test('shows the risk of a session that grows faster than the service responds', async () => {
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
    await page.getByText('Nothing in this session raises its risk.').waitFor();
    await expect.poll(() => held.length).toBe(2);
  });
});
