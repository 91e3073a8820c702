import { afterEach, beforeEach, describe, expect, test } from 'vitest';

import { WebhookReceiver } from '../../../server/tests/webhook-receiver.ts';
import { ConsoleServer } from './console-server.ts';
import { ConsoleTab } from './console-tab.ts';

describe('webhook page', () => {
  let receiver: WebhookReceiver;
  let server: ConsoleServer;
  let url: string;
  let id: string;

  beforeEach(async () => {
    receiver = new WebhookReceiver();
    url = await receiver.listen();
    server = await ConsoleServer.create();
    id = (await server.ok('notificationChannels.create', { body: { url } })).id;
  });

  afterEach(() => receiver.close());

  test('sends a test message, shows why it failed, and resends it', async () => {
    receiver.responses.push({ status: 503 });
    const tab = await ConsoleTab.open(server.server.url, server.apiKey, '/webhooks');
    const { page } = tab;
    await page.getByRole('link', { name: url }).click();
    await tab.heading(url);
    await page.getByText('Nothing was sent yet.').waitFor();
    await page.getByRole('button', { name: 'Send a test message' }).click();
    await page.getByRole('status').getByText('on its way').waitFor();
    const log = page.getByRole('list', { name: 'Deliveries, newest first' });
    await tab.refreshUntil(log.getByText('The receiver responded with 503'));
    await tab.refreshUntil(page.getByText('failing', { exact: true }));
    await page.getByRole('link', { name: 'failed', exact: true }).click();
    await log.getByRole('button', { name: 'Resend' }).click();
    await tab.refreshUntil(page.getByText('No message failed.'));
    await page.getByRole('link', { name: 'all', exact: true }).click();
    await tab.refreshUntil(log.getByText('The receiver responded with 204'));
    await tab.refreshUntil(page.getByText('active', { exact: true }));
    expect(receiver.messages).toHaveLength(2);
  });

  test('disables and enables it', async () => {
    const { page } = await ConsoleTab.open(server.server.url, server.apiKey, `/webhooks/${id}`);
    await page.getByRole('button', { name: 'Disable' }).click();
    await page.getByRole('button', { name: 'Disable: waiting messages fail' }).click();
    await page.getByText('disabled', { exact: true }).waitFor();
    expect((await server.ok('notificationChannels.list')).items).toMatchObject([{ status: 'disabled' }]);
    expect(await page.getByRole('button', { name: 'Send a test message' }).count()).toBe(0);
    await page.getByRole('button', { name: 'Enable' }).click();
    await page.getByText('active', { exact: true }).waitFor();
  });

  test('rotates the secret, and shows the new one once', async () => {
    const { page } = await ConsoleTab.open(server.server.url, server.apiKey, `/webhooks/${id}`);
    await page.getByLabel('The old secret ends').selectOption('7');
    await page.getByRole('button', { name: 'Rotate the secret' }).click();
    await page.getByRole('button', { name: 'Rotate: show a new secret once' }).click();
    await expect.poll(() => page.getByLabel('New signing secret').textContent()).toMatch(/whsec_/);
    await page.getByText('The old secret ends').first().waitFor();
    await page.getByRole('button', { name: 'I have it' }).click();
    await page.getByLabel('New signing secret').waitFor({ state: 'detached' });
    expect(await page.content()).not.toContain('whsec_');
  });

  test('deletes it after a confirmation', async () => {
    const tab = await ConsoleTab.open(server.server.url, server.apiKey, `/webhooks/${id}`);
    const { page } = tab;
    await page.getByRole('button', { name: 'Delete' }).click();
    await page.getByRole('button', { name: 'Delete with its log' }).waitFor();
    await page.keyboard.press('Escape');
    await page.getByRole('button', { name: 'Delete with its log' }).waitFor({ state: 'hidden' });
    await page.getByRole('button', { name: 'Delete' }).click();
    await page.getByRole('button', { name: 'Delete with its log' }).click();
    await tab.heading('Webhooks');
    await page.getByText('No webhook yet.').waitFor();
    expect((await server.ok('notificationChannels.list')).items).toEqual([]);
  });

  test('shows the log to a read-only key, and offers it no change', async () => {
    const { admin } = server.server;
    const { apiKey } = await admin.keys.create(server.tenant, { name: 'reader', scopes: ['read'] });
    const { page } = await ConsoleTab.open(server.server.url, apiKey, `/webhooks/${id}`);
    await page.getByText('Nothing was sent yet.').waitFor();
    expect(await page.locator('main button').count()).toBe(0);
  });
});
