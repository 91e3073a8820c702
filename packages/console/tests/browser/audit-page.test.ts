import { describe, expect, test } from 'vitest';

import { ConsoleServer } from './console-server.ts';
import { ConsoleTab } from './console-tab.ts';

describe('audit page', () => {
  test('shows who changed which field of what, and leads to it', async () => {
    const server = await ConsoleServer.create();
    const { id } = await server.policy({ name: 'Refunds', condition: 'args.amount > 10.0' });
    await server.ok('policies.update', { id, body: { condition: 'args.amount > 100.0' } });
    const tab = await ConsoleTab.open(server.server.url, server.apiKey, '/');
    const { page } = tab;
    await page.getByRole('link', { name: 'Audit' }).click();
    await tab.heading('Audit log');
    const [updated, created] = ['policy updated', 'policy created'].map((hasText) =>
      page.getByRole('listitem').filter({ hasText }).first(),
    );
    await expect.poll(() => updated?.textContent()).toContain('startServer');
    await expect.poll(() => updated?.locator('del').first().textContent()).toBe('args.amount > 10.0');
    await expect.poll(() => updated?.locator('ins').first().textContent()).toBe('args.amount > 100.0');
    await expect.poll(() => created?.textContent()).toContain('Refunds');
    await updated?.getByRole('link', { name: 'Refunds' }).click();
    await tab.heading('Refunds');
  });

  test('filters by kind, key, target and time, all in the address', async () => {
    const server = await ConsoleServer.create();
    await server.policy({ name: 'Refunds' });
    const { apiKey, key } = await server.server.admin.keys.create(server.tenant, { name: 'other' });
    await server.as(apiKey).policy({ name: 'Transfers' });
    const { page } = await ConsoleTab.open(server.server.url, server.apiKey, '/audit');
    const log = page.getByRole('list', { name: 'Changes, newest first' });
    await log.getByRole('link', { name: 'Transfers' }).waitFor();
    await page.getByLabel('Changes of').selectOption('key');
    await log.getByRole('link', { name: 'Transfers' }).waitFor({ state: 'detached' });
    await log.getByText('key created').first().waitFor();
    expect(page.url()).toContain('kind=key');
    await page.goBack();
    await log.getByRole('link', { name: 'Transfers' }).waitFor();
    await log.getByRole('link', { name: `key_${key.id}` }).click();
    await log.getByRole('link', { name: 'Refunds' }).waitFor({ state: 'detached' });
    expect(page.url()).toContain(`actor=key_${key.id}`);
    await expect
      .poll(() => page.getByLabel('By the person or key with the id').inputValue())
      .toBe(`key_${key.id}`);
    await page.getByLabel('When').selectOption('24h');
    await page.getByLabel('Of the thing with the id').fill('nothing');
    await page.getByRole('button', { name: 'Filter' }).click();
    await page.getByText('No change matches.').waitFor();
    await page.getByRole('link', { name: 'Show all' }).click();
    await log.getByRole('link', { name: 'Refunds' }).waitFor();
  });

  test('loads further pages in the same span of time', async () => {
    const server = await ConsoleServer.create();
    const { id } = await server.policy();
    for (let priority = 1; priority <= 60; priority += 1) {
      await server.ok('policies.update', { id, body: { priority } });
    }
    const { page } = await ConsoleTab.open(server.server.url, server.apiKey, '/audit?since=24h');
    const entries = page.getByRole('list', { name: 'Changes, newest first' }).locator('> li');
    await expect.poll(() => entries.count()).toBe(50);
    await page.getByRole('button', { name: 'Show more' }).click();
    await expect.poll(() => entries.count()).toBe(62);
  });

  test('is not offered to a key without all scopes', async () => {
    const { server } = await ConsoleServer.create();
    const scopes = ['read', 'manage', 'decide'] as const;
    const { apiKey } = await server.admin.keys.create(server.tenant, { name: 'r', scopes });
    const { page } = await ConsoleTab.open(server.url, apiKey, '/');
    await page.getByRole('link', { name: 'Webhooks' }).first().waitFor();
    expect(await page.getByRole('link', { name: 'Audit' }).count()).toBe(0);
  });
});
