import { describe, expect, test } from 'vitest';

import { ConsoleServer } from './console-server.ts';
import { ConsoleTab } from './console-tab.ts';

describe('failed requests', () => {
  test.each<[string, string, string, string]>([
    ['the risk of a session', '/sessions/chat', '**/v1/sessions/chat/risk', 'Events, oldest first'],
    ['its events', '/sessions/chat', '**/v1/sessions/chat?limit=200', 'Events, oldest first'],
    ['a list', '/agents', '**/v1/agents', 'Agents, newest first'],
  ])('are repeated when the user presses retry: %s', async (_what, place, path, table) => {
    const server = await ConsoleServer.create();
    await server.record({ sessionId: 'chat' });
    const tab = await ConsoleTab.open(server.server.url, server.apiKey, '/sessions');
    const { page } = tab;
    await page.route(path, (route) => route.abort());
    await page.clock.install();
    await tab.go(place);
    const retry = page.getByRole('alert').getByRole('button', { name: 'Try again' });
    // The client waits before its own retry, by a clock that the test controls.
    await expect
      .poll(async () => {
        await page.clock.runFor(1000);
        return retry.count();
      })
      .toBe(1);
    await page.unrouteAll();
    await retry.focus();
    await page.keyboard.press('Enter');
    await page.getByRole('table', { name: table }).waitFor();
    await retry.waitFor({ state: 'detached' });
    expect(await page.evaluate('document.activeElement.tagName')).toBe('MAIN');
  });

  test('are repeated when the user presses retry: a policy', async () => {
    const server = await ConsoleServer.create();
    const { id } = await server.policy({ name: 'No refunds' });
    const tab = await ConsoleTab.open(server.server.url, server.apiKey);
    const { page } = tab;
    await page.route(`**/v1/policies/${id}`, (route) => route.fulfill({ status: 400, body: '' }));
    await tab.go(`/policies/${id}`);
    const retry = page.getByRole('alert').getByRole('button', { name: 'Try again' });
    await retry.waitFor();
    const late = Promise.withResolvers<void>();
    await page.unrouteAll();
    await page.route(`**/v1/policies/${id}`, async (route) => {
      await late.promise;
      await route.fulfill({ status: 400, body: '' });
    });
    await retry.click();
    await page.getByRole('alert').getByRole('button', { name: 'Trying again…' }).waitFor();
    late.resolve();
    await retry.waitFor();
    await page.unrouteAll();
    await retry.click();
    await tab.heading('No refunds');
  });
});
