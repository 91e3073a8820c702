import type { Locator } from 'playwright-core';
import { describe, expect, test } from 'vitest';
import { checkBody, type TestServer, testServer } from '../test-server.ts';
import { ConsoleTab, hasBrowser, useBrowser } from './console-tab.ts';

/** A server with something to see on every page. */
async function busyServer(): Promise<TestServer> {
  const server = await testServer({ webhookAllowedRanges: ['127.0.0.0/8'] });
  await server.policy({ effect: 'require_approval', name: 'Refunds' });
  await server.check({ actionId: 'call-1', action: { ...checkBody().action, arguments: { amount: 1 } } });
  for (const toolName of ['read_email', 'send_email', 'delete_email', 'fails']) {
    const responseStatus = toolName === 'fails' ? 500 : 200;
    await server.record({ payload: { toolName, argumentsHash: 'sha256:aa', responseStatus } });
  }
  await server.ok('notificationChannels.create', { body: { url: 'http://127.0.0.1:9/hook' } });
  return server;
}

const places = [
  ['/sessions', 'Sessions'],
  ['/sessions/thread-1', 'thread-1'],
  ['/approvals', 'Approvals'],
  ['/policies', 'Policies'],
  ['/policies/new', 'New policy'],
  ['/agents', 'Agents'],
  ['/webhooks', 'Webhooks'],
  ['/keys', 'Keys'],
  ['/nowhere', 'There is no such page'],
] as const;

describe.skipIf(!hasBrowser)('every page', () => {
  useBrowser();

  test.each(['light', 'dark'] as const)('is accessible in %s', async (colorScheme) => {
    const { server, apiKey } = await busyServer();
    const tab = await ConsoleTab.open(server.url, apiKey, '', { colorScheme });
    for (const [place, heading] of places) {
      await tab.go(place);
      await tab.heading(heading);
      await tab.page.getByText('Loading…').waitFor({ state: 'detached' });
      expect([place, await tab.accessibilityFaults()]).toEqual([place, []]);
    }
  });

  // The rules leave out what stands in an empty field, which browsers draw too faintly each in their own way.
  test.each(['light', 'dark'] as const)('shows in %s what to type as it shows hints', async (colorScheme) => {
    const { server, apiKey } = await testServer();
    const { page } = await ConsoleTab.open(server.url, apiKey, '/webhooks', { colorScheme });
    await page.getByText('Deliveries are signed').waitFor();
    expect(
      await page.evaluate('getComputedStyle(document.querySelector("input"), "::placeholder").color'),
    ).toBe(await page.evaluate('getComputedStyle(document.querySelector("small")).color'));
  });

  test('tells who listens which action a button decides about', async () => {
    const { server, apiKey } = await busyServer();
    const tab = await ConsoleTab.open(server.url, apiKey, '/approvals');
    const card = tab.page.getByRole('group', { name: 'refund by billing-agent', exact: true });
    await card.getByRole('button', { name: 'Approve' }).waitFor();
    await card.getByRole('textbox', { name: 'Comment, shown to the agent' }).waitFor();
  });

  test('is reached by keyboard, and reading goes on at its beginning', async () => {
    const { server, apiKey } = await busyServer();
    const tab = await ConsoleTab.open(server.url, apiKey);
    await tab.page.getByRole('link', { name: 'Agents' }).focus();
    await tab.page.keyboard.press('Enter');
    await tab.heading('Agents');
    await expect.poll(() => tab.page.evaluate('document.activeElement.tagName')).toBe('MAIN');
    expect(await tab.page.title()).toBe('Agents · actlog');
  });

  test('leaves the focus of who works by keyboard where they pressed', async () => {
    const server = await testServer();
    const { id } = await server.policy();
    const tab = await ConsoleTab.open(server.server.url, server.apiKey, `/policies/${id}`);
    const { page } = tab;
    const press = async (name: string, outcome: Locator) => {
      const button = page.getByRole('button', { name, exact: true });
      await button.focus();
      await page.keyboard.press('Enter');
      await outcome.waitFor();
      expect(await page.evaluate('document.activeElement.textContent')).toBe(name);
    };
    await page.getByLabel('Description').fill('changed');
    await press('Save', page.getByText('Saved.'));
    await tab.go('/policies');
    await page.getByLabel('Agent', { exact: true }).fill('billing-agent');
    await page.getByLabel('Tool', { exact: true }).fill('refund');
    await press('Try', page.getByText('Decision: deny'));
    await tab.go('/webhooks');
    await page.getByLabel('Address').fill('http://127.0.0.1:9/hook');
    await press('Create', page.getByRole('alert'));
    await page.getByRole('button', { name: 'Sign out' }).click();
    await page.getByLabel('API key').fill('al_live_none');
    await press('Sign in', page.getByRole('alert'));
  });

  // WCAG 2.2, 1.4.10: 320 is a screen of 1280 at 400 %.
  test.each([360, 320])('fits a screen of %d without scrolling sideways', async (width) => {
    const { server, apiKey } = await busyServer();
    const tab = await ConsoleTab.open(server.url, apiKey, '', { viewport: { width, height: 740 } });
    for (const [place, heading] of places) {
      await tab.go(place);
      await tab.heading(heading);
      await tab.page.getByText('Loading…').waitFor({ state: 'detached' });
      expect([place, await tab.page.evaluate('document.documentElement.scrollWidth')]).toEqual([
        place,
        width,
      ]);
    }
  });
});

describe.skipIf(!hasBrowser)('the sign-in', () => {
  useBrowser();

  test('is accessible', async () => {
    const { server } = await testServer();
    const tab = await ConsoleTab.blank(server.url);
    await tab.page.goto(`${server.url}/console/`);
    await tab.heading('actlog');
    expect(await tab.accessibilityFaults()).toEqual([]);
  });
});
