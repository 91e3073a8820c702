import { describe, expect, test } from 'vitest';
import { testServer } from '../../../server/tests/test-server.ts';
import { ConsoleTab, hasBrowser, useBrowser } from './console-tab.ts';

describe.skipIf(!hasBrowser)('keys page', () => {
  useBrowser();

  test('creates keys that work', async () => {
    const server = await testServer();
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
    expect(await page.getByRole('row', { name: /^billing-agent/ }).textContent()).toMatch(/in (29|30) days/);
  });

  test('rotates a key: shows the new one, and ends the old one at the chosen time', async () => {
    const server = await testServer();
    const { apiKey } = await server.server.admin.keys.create('default', { name: 'agent', kind: 'test' });
    const { page } = await ConsoleTab.open(server.server.url, server.apiKey, '/keys');
    await page.getByLabel('A rotated key expires').selectOption('0');
    await page
      .getByRole('row', { name: /^agent/ })
      .getByRole('button', { name: 'Rotate' })
      .click();
    await page.getByRole('button', { name: 'Rotate agent' }).click();
    const created = await page.getByLabel('API key “agent”').locator('code').textContent();
    await server.as(created as string).ok('sessions.list');
    expect((await server.as(apiKey).refused('sessions.list')).status).toBe(401);
  });

  test('rotates an expiring key to one that never expires, and says so on the button', async () => {
    const server = await testServer();
    const { admin } = server.server;
    await admin.keys.create('default', { name: 'agent', expiresInDays: 30 });
    const { page } = await ConsoleTab.open(server.server.url, server.apiKey, '/keys');
    await page
      .getByRole('row', { name: /^agent/ })
      .getByRole('button', { name: 'Rotate' })
      .click();
    await page.getByRole('button', { name: 'Rotate agent by one that does not end' }).click();
    await page.getByLabel('API key “agent”').waitFor();
    expect((await admin.keys.list('default')).at(-1)).toMatchObject({ name: 'agent', expiresMs: null });
  });

  test('focuses each new key, which is not yet copied', async () => {
    const server = await testServer();
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
    const server = await testServer();
    const { apiKey } = await server.server.admin.keys.create('default', { name: 'mine', kind: 'test' });
    const tab = await ConsoleTab.open(server.server.url, apiKey, '/keys');
    await tab.page.getByRole('row', { name: /^mine/ }).getByRole('button', { name: 'Revoke' }).click();
    await tab.page.getByRole('button', { name: 'Revoke mine, and sign out' }).click();
    await tab.heading('actlog');
    expect((await server.as(apiKey).refused('sessions.list')).status).toBe(401);
  });
});
