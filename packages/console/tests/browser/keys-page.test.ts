import { describe, expect, test } from 'vitest';

import { ConsoleServer } from './console-server.ts';
import { ConsoleTab } from './console-tab.ts';

describe('keys page', () => {
  test('creates keys that work', async () => {
    const server = await ConsoleServer.create();
    const { page } = await ConsoleTab.open(server.server.url, server.apiKey, '/keys');
    await page.getByLabel('Name').fill('billing-agent');
    await page.getByLabel('Kind').selectOption('test');
    await page.getByLabel('Expires after days').fill('30');
    await page.getByRole('button', { name: 'Create' }).click();
    const created = await page.getByLabel('API key “billing-agent”').locator('code').textContent();
    await server.as(created as string).record({});
    expect((await server.as(created as string).refused('agents.list')).code).toBe('PERMISSION_DENIED');
    await page.getByRole('button', { name: 'I have it' }).click();
    await page.getByLabel('API key “billing-agent”').waitFor({ state: 'detached' });
    expect(await page.content()).not.toContain(created);
    await expect
      .poll(() => page.getByRole('listitem', { name: 'billing-agent' }).textContent())
      .toMatch(/expires in (29|30) days/);
  });

  test('creates a key for each role, and one with chosen scopes', async () => {
    const server = await ConsoleServer.create();
    const { page } = await ConsoleTab.open(server.server.url, server.apiKey, '/keys');
    const roles = { Agent: 1, Reader: 1, Approver: 2, Administrator: 4 };
    for (const [role, count] of Object.entries(roles)) {
      await page.getByRole('radio', { name: new RegExp(`^${role}`) }).check();
      await page.getByLabel('Name', { exact: true }).fill(role);
      await page.getByRole('button', { name: 'Create' }).click();
      await page.getByLabel(`API key “${role}”`).waitFor();
      const created = (await server.server.admin.keys.list(server.tenant)).find(({ name }) => name === role);
      expect(created?.scopes).toHaveLength(count);
      await page.getByRole('listitem', { name: role, exact: true }).getByText(role).nth(1).waitFor();
    }
    await page.getByRole('radio', { name: 'Custom' }).check();
    await page.getByLabel('manage: agents, policies, webhooks').check();
    await page.getByLabel('Name', { exact: true }).fill('ci');
    await page.getByRole('button', { name: 'Create' }).click();
    await page.getByLabel('API key “ci”').waitFor();
    expect((await server.server.admin.keys.list(server.tenant)).at(-1)?.scopes).toEqual(['ingest', 'manage']);
  });

  test('binds a key for an agent to the agents that the form names, or else to its name', async () => {
    const server = await ConsoleServer.create();
    const { page } = await ConsoleTab.open(server.server.url, server.apiKey, '/keys');
    for (const [name, agents] of [
      ['billing', ''],
      ['gateway', 'billing*, support'],
    ] as const) {
      await page.getByLabel('Name', { exact: true }).fill(name);
      await page.getByRole('textbox', { name: 'Agents' }).fill(agents);
      if (agents !== '') await page.getByLabel('Several agents share it').check();
      await page.getByRole('button', { name: 'Create' }).click();
      await page.getByLabel(`API key “${name}”`).waitFor();
    }
    const keys = await server.server.admin.keys.list(server.tenant);
    expect(keys.slice(-2).map(({ agents, shared }) => [agents, shared])).toEqual([
      [['billing'], false],
      [['billing*', 'support'], true],
    ]);
    await page.getByRole('listitem', { name: 'gateway' }).getByText('billing*, support').waitFor();
  });

  test('offers nothing to a key that may not manage keys', async () => {
    const { server } = await ConsoleServer.create();
    const { apiKey } = await server.admin.keys.create(server.tenant, { name: 'r', scopes: ['read'] });
    const tab = await ConsoleTab.open(server.url, apiKey, '/keys');
    await tab.heading('Keys');
    await tab.page.getByText('are for administrators').waitFor();
    expect(await tab.page.locator('main button').count()).toBe(0);
    await tab.go('/audit');
    await tab.heading('Audit log');
    await tab.page.getByText('are for administrators').waitFor();
  });

  test('rotates a key: shows the new one, and ends the old one at the chosen time', async () => {
    const server = await ConsoleServer.create();
    const { apiKey } = await server.server.admin.keys.create(server.tenant, { name: 'agent', kind: 'test' });
    const { page } = await ConsoleTab.open(server.server.url, server.apiKey, '/keys');
    await page.getByLabel('A rotated key expires').selectOption('0');
    await page
      .getByRole('listitem', { name: 'agent', exact: true })
      .getByRole('button', { name: 'Rotate' })
      .click();
    await page.getByRole('button', { name: 'Rotate agent' }).click();
    const created = await page.getByLabel('API key “agent”').locator('code').textContent();
    await server.as(created as string).ok('sessions.list');
    expect((await server.as(apiKey).refused('sessions.list')).status).toBe(401);
  });

  test('rotates an expiring key to one that never expires, and says so on the button', async () => {
    const server = await ConsoleServer.create();
    const { admin } = server.server;
    await admin.keys.create(server.tenant, { name: 'agent', expiresInDays: 30 });
    const { page } = await ConsoleTab.open(server.server.url, server.apiKey, '/keys');
    await page
      .getByRole('listitem', { name: 'agent', exact: true })
      .getByRole('button', { name: 'Rotate' })
      .click();
    await page.getByRole('button', { name: 'Rotate agent by one that does not end' }).click();
    await page.getByLabel('API key “agent”').waitFor();
    expect((await admin.keys.list(server.tenant)).at(-1)).toMatchObject({ name: 'agent', expiresMs: null });
  });

  test('focuses each new key, which is not yet copied', async () => {
    const server = await ConsoleServer.create();
    const { page } = await ConsoleTab.open(server.server.url, server.apiKey, '/keys', {
      permissions: ['clipboard-write'],
      viewport: { width: 360, height: 300 },
    });
    for (const name of ['one', 'two']) {
      await page.getByLabel('Name', { exact: true }).fill(name);
      await page.getByRole('button', { name: 'Create' }).click();
      await page.getByLabel(`API key “${name}”`).waitFor();
      await expect
        .poll(() => page.evaluate('document.activeElement.getAttribute("aria-label")'))
        .toContain(name);
      await page.getByRole('button', { name: 'Copy', exact: true }).click();
      await page.getByRole('button', { name: 'Copied' }).waitFor();
    }
  });

  test("signs out after the user's own key is revoked", async () => {
    const server = await ConsoleServer.create();
    const { apiKey } = await server.server.admin.keys.create(server.tenant, { name: 'mine', kind: 'test' });
    const tab = await ConsoleTab.open(server.server.url, apiKey, '/keys');
    await tab.page
      .getByRole('listitem', { name: 'mine', exact: true })
      .getByRole('button', { name: 'Revoke' })
      .click();
    await tab.page.getByRole('button', { name: 'Revoke mine, and sign out' }).click();
    await tab.heading('actlog');
    expect((await server.as(apiKey).refused('sessions.list')).status).toBe(401);
  });
});
