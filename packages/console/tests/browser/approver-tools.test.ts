import type { Page } from 'playwright-core';
import { describe, expect, test } from 'vitest';

import { ConsoleServer } from './console-server.ts';
import { ConsoleTab } from './console-tab.ts';

async function hold(server: ConsoleServer, actionId: string): Promise<string> {
  const action = { toolName: 'refund', argumentsHash: 'sha256:aa', arguments: { secret: 's3cret' } };
  return (await server.check({ actionId, action })).pendingActionId as string;
}

async function holding(): Promise<ConsoleServer> {
  const server = await ConsoleServer.create();
  await server.policy({ effect: 'require_approval', name: 'Refunds need a person' });
  return server;
}

/** Opens the approvals page, and waits until its cards accept decisions. */
async function approvals(server: ConsoleServer): Promise<Page> {
  const { page } = await ConsoleTab.open(server.server.url, server.apiKey, '/approvals');
  await page.getByRole('button', { name: 'Approve', disabled: false }).first().waitFor();
  return page;
}

function focusedCard(page: Page): Promise<string | undefined> {
  return page.evaluate('document.activeElement.closest("article")?.id');
}

describe('approver’s tools', () => {
  test('names the policy, and shows the risk of the session', async () => {
    const server = await holding();
    await server.record({ sessionId: 'thread-1' });
    await server.ok('sessions.risk', { id: 'thread-1' });
    await hold(server, 'call-1');
    const page = await approvals(server);
    const card = page.getByRole('article');
    await card.getByText('Risk of the session').waitFor();
    await card.getByText('low', { exact: true }).waitFor();
    await card.getByRole('link', { name: 'Refunds need a person' }).click();
    await page.getByRole('heading', { level: 1, name: 'Refunds need a person' }).waitFor();
  });

  test('shows the number of waiting actions in the title of the tab', async () => {
    const server = await holding();
    await hold(server, 'call-1');
    const page = await approvals(server);
    await expect.poll(() => page.title()).toBe('(1) Approvals · actlog');
    await page.getByRole('button', { name: 'Deny' }).click();
    await expect.poll(() => page.title()).toBe('Approvals · actlog');
  });

  test('moves with j and k, and decides with a and d after a confirmation', async () => {
    const server = await holding();
    const first = await hold(server, 'call-1');
    const second = await hold(server, 'call-2');
    const page = await approvals(server);
    await page.getByRole('article').nth(1).waitFor();
    await page.getByText('Keyboard shortcuts').waitFor();
    await page.keyboard.press('j');
    expect(await focusedCard(page)).toBe(`action-${second}`);
    await page.keyboard.press('j');
    expect(await focusedCard(page)).toBe(`action-${first}`);
    await page.keyboard.press('k');
    await page.keyboard.press('a');
    await page.getByRole('button', { name: 'Approve refund by billing-agent?' }).waitFor();
    await page.keyboard.press('Escape');
    expect(await focusedCard(page)).toBe(`action-${second}`);
    expect((await server.ok('guardian.pendingActions.list')).items).toHaveLength(2);
    await page.keyboard.press('d');
    await page.keyboard.press('Enter');
    await page.getByRole('status').getByText('refund by billing-agent: denied.').waitFor();
    expect((await server.ok('guardian.pendingActions.list')).items).toMatchObject([{ id: first }]);
    await page.keyboard.press('j');
    await page.keyboard.press('x');
    await page.getByRole('button', { name: 'Approve 1 action' }).waitFor();
    await page.keyboard.press('a');
    await page.keyboard.press('Enter');
    await page.getByRole('status').getByText('refund by billing-agent: approved.').waitFor();
  });

  test('leaves letters to fields, and to users who turn the shortcuts off', async () => {
    const server = await holding();
    await hold(server, 'call-1');
    const page = await approvals(server);
    await page.getByLabel('Comment, shown to the agent').fill('');
    await page.getByLabel('Comment, shown to the agent').press('d');
    await expect.poll(() => page.getByLabel('Comment, shown to the agent').inputValue()).toBe('d');
    await page.getByLabel('Keyboard shortcuts').first().uncheck();
    await page.getByRole('article').focus();
    await page.keyboard.press('d');
    expect(await page.getByRole('button', { name: 'Deny refund by billing-agent?' }).count()).toBe(0);
    await page.getByLabel('Keyboard shortcuts').first().check();
    await page.getByRole('article').focus();
    await page.keyboard.press('d');
    await page.getByRole('button', { name: 'Deny refund by billing-agent?' }).waitFor();
  });

  test('notifies of new actions after the user has turned it on, and says nothing about them', async () => {
    const server = await holding();
    await hold(server, 'call-1');
    const tab = await ConsoleTab.blank(server.server.url);
    const { page } = tab;
    // A browser without a desktop denies all notifications, and shows none.
    await page.addInitScript(`
      globalThis.shown = [];
      globalThis.Notification = class {
        static permission = 'default';
        static async requestPermission() {
          return (this.permission = 'granted');
        }
        constructor(title, options) {
          shown.push(JSON.stringify({ title, ...options }));
        }
      };
    `);
    const shown = () => page.evaluate(() => (globalThis as unknown as { shown: string[] }).shown);
    await page.goto(`${server.server.url}/console/#key=${server.apiKey}`);
    await tab.heading('Overview');
    await tab.go('/approvals');
    await page.getByRole('article').waitFor();
    await hold(server, 'call-2');
    await tab.refreshUntil(page.getByRole('article').nth(1));
    await tab.refreshUntil(page.getByRole('link', { name: 'Approvals 2 waiting' }));
    expect(await shown()).toEqual([]);
    await page.getByRole('button', { name: 'Desktop notifications: off' }).click();
    await page.getByRole('button', { name: 'Desktop notifications: on' }).waitFor();
    await tab.go('/agents');
    await tab.heading('Agents');
    await hold(server, 'call-3');
    await tab.refreshUntil(page.getByRole('link', { name: 'Approvals 3 waiting' }));
    await expect.poll(shown).toHaveLength(1);
    expect((await shown())[0]).toBe(
      '{"title":"actlog","body":"3 actions wait for approval.","tag":"actlog-waiting"}',
    );
    await tab.go('/approvals');
    await page.getByRole('button', { name: 'Desktop notifications: on' }).click();
    await hold(server, 'call-4');
    await tab.refreshUntil(page.getByRole('link', { name: 'Approvals 4 waiting' }));
    expect(await shown()).toHaveLength(1);
  });
});
