import type { Locator } from 'playwright-core';
import { describe, expect, test } from 'vitest';
import { sentTo } from '../../../server/tests/audit-entries.ts';
import { checkBody } from '../../../server/tests/test-server.ts';
import { ConsoleServer } from './console-server.ts';
import { ConsoleTab } from './console-tab.ts';

/** Starts a server with data on every page. */
async function busyServer(): Promise<ConsoleServer & { readonly webhook: string }> {
  const server = await ConsoleServer.create();
  await server.policy({ effect: 'require_approval', name: 'Refunds' });
  await server.check({ actionId: 'call-1', action: { ...checkBody().action, arguments: { amount: 1 } } });
  for (const toolName of ['read_email', 'send_email', 'delete_email', 'fails']) {
    const responseStatus = toolName === 'fails' ? 500 : 200;
    await server.record({ payload: { toolName, argumentsHash: 'sha256:aa', responseStatus } });
  }
  const body = { url: 'http://127.0.0.1:9/hook' };
  const { id: webhook } = await server.ok('notificationChannels.create', { body });
  await sentTo(server, 'POST', `/server/v1/webhooks/${webhook}/test`);
  return Object.assign(server, { webhook });
}

const places = [
  ['/', 'Overview'],
  ['/?span=7d', 'Overview'],
  ['/sessions', 'Sessions'],
  ['/sessions/thread-1', 'thread-1'],
  ['/approvals', 'Approvals'],
  ['/judgments', 'Judgments'],
  ['/policies', 'Policies'],
  ['/decisions', 'Decisions'],
  ['/policies/new', 'New policy'],
  ['/agents', 'Agents'],
  ['/webhooks', 'Webhooks'],
  ['/webhooks/:webhook', 'http://127.0.0.1:9/hook'],
  ['/keys', 'Keys'],
  ['/audit', 'Audit log'],
  ['/nowhere', 'Page not found'],
] as const;

describe('every page', () => {
  test('is accessible, in light and dark', async () => {
    const { server, apiKey, webhook } = await busyServer();
    const tab = await ConsoleTab.open(server.url, apiKey);
    for (const [place, heading] of places) {
      await tab.go(place.replace(':webhook', webhook));
      await tab.heading(heading);
      await tab.page.getByText('Loading…').waitFor({ state: 'detached' });
      for (const colorScheme of ['light', 'dark'] as const) {
        await tab.useColorScheme(colorScheme);
        expect([place, colorScheme, await tab.accessibilityFaults()]).toEqual([place, colorScheme, []]);
      }
    }
  });

  // The rules ignore placeholders, which browsers render too faintly, each in its own way.
  test('shows placeholders in the color of hints, in light and dark', async () => {
    const { server, apiKey } = await ConsoleServer.create();
    const tab = await ConsoleTab.open(server.url, apiKey, '/webhooks');
    const { page } = tab;
    await page.getByText('Deliveries are signed').waitFor();
    for (const colorScheme of ['light', 'dark'] as const) {
      await tab.useColorScheme(colorScheme);
      expect(
        await page.evaluate('getComputedStyle(document.querySelector("main input"), "::placeholder").color'),
      ).toBe(await page.evaluate('getComputedStyle(document.querySelector("small")).color'));
    }
  });

  test('tells screen readers which action a button decides', async () => {
    const { server, apiKey } = await busyServer();
    const tab = await ConsoleTab.open(server.url, apiKey, '/approvals');
    const card = tab.page.getByRole('group', { name: 'refund by billing-agent', exact: true });
    await card.getByRole('button', { name: 'Approve' }).waitFor();
    await card.getByRole('textbox', { name: 'Comment, shown to the agent' }).waitFor();
  });

  test('is reached by keyboard, and reading starts at its beginning', async () => {
    const { server, apiKey } = await busyServer();
    const tab = await ConsoleTab.open(server.url, apiKey);
    await tab.page.getByRole('link', { name: 'Agents' }).focus();
    await tab.page.keyboard.press('Enter');
    await tab.heading('Agents');
    await expect.poll(() => tab.page.evaluate('document.activeElement.tagName')).toBe('MAIN');
    expect(await tab.page.title()).toBe('(1) Agents · actlog');
  });

  test('keeps the focus of keyboard users on the pressed button', async () => {
    const server = await ConsoleServer.create();
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
    await page.getByText('Description and priority').click();
    await page.getByLabel('Description').fill('changed');
    await press('Save', page.getByText('Saved.'));
    await tab.go('/policies');
    await page.getByLabel('Agent', { exact: true }).fill('billing-agent');
    await page.getByLabel('Tool', { exact: true }).fill('refund');
    await press('Try', page.getByText('Decision: deny'));
    await tab.go('/webhooks');
    await page.getByLabel('Address').fill('http://10.0.0.1:9/hook');
    await press('Create', page.getByRole('alert'));
    await page.getByRole('button', { name: 'Sign out' }).click();
    await page.getByLabel('API key').fill('al_live_none');
    await press('Sign in', page.getByRole('alert'));
  });

  // WCAG 2.2, 1.4.10: 320 pixels correspond to a screen of 1280 at 400%.
  test('fits screens of 1440, 360 and 320 pixels without horizontal scrolling', async () => {
    const { server, apiKey, webhook } = await busyServer();
    const tab = await ConsoleTab.open(server.url, apiKey);
    for (const [place, heading] of places) {
      await tab.go(place.replace(':webhook', webhook));
      await tab.heading(heading);
      await tab.page.getByText('Loading…').waitFor({ state: 'detached' });
      for (const width of [1440, 360, 320]) {
        await tab.resize(width);
        expect([place, width, await tab.overflow()]).toEqual([place, width, 0]);
      }
    }
  });
});

describe('sign-in page', () => {
  test('is accessible', async () => {
    const { server } = await ConsoleServer.create();
    const tab = await ConsoleTab.blank(server.url);
    await tab.page.goto(`${server.url}/console/`);
    await tab.heading('actlog');
    expect(await tab.accessibilityFaults()).toEqual([]);
  });
});

test('a session with an opened row fits from 360 to 2560 pixels, in both schemes', async () => {
  const server = await ConsoleServer.create();
  for (const toolName of ['fetch_web_page', 'read_secrets', 'send_email', `very_long_${'x'.repeat(120)}`]) {
    const payload = { toolName, argumentsHash: 'sha256:aa', responseStatus: 200 };
    await server.record({ sessionId: 'incident', agentId: 'mailer', payload });
  }
  const tab = await ConsoleTab.open(server.server.url, server.apiKey, '/sessions/incident');
  await tab.page.getByRole('rowheader').getByRole('button', { name: 'read_secrets' }).click();
  await tab.page.locator('.event-details').waitFor();
  for (const width of [360, 1280, 2560]) {
    await tab.resize(width);
    expect([width, await tab.overflow()]).toEqual([width, 0]);
    const scroll = tab.page.locator('.event-scroll');
    const cut = await scroll.evaluate((element) => element.scrollWidth - element.clientWidth);
    expect([width, cut]).toEqual([width, 0]);
    for (const colorScheme of ['light', 'dark'] as const) {
      await tab.useColorScheme(colorScheme);
      expect([width, colorScheme, await tab.accessibilityFaults()]).toEqual([width, colorScheme, []]);
    }
  }
});
