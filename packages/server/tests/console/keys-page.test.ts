import { describe, expect, test } from 'vitest';
import { testServer } from '../test-server.ts';
import { ConsoleTab, hasBrowser, useBrowser } from './console-tab.ts';

describe.skipIf(!hasBrowser)('the keys of the console', () => {
  useBrowser();

  test('are made, and work', async () => {
    const server = await testServer();
    const { page } = await ConsoleTab.open(server.server.url, server.apiKey, '/keys');
    await page.getByLabel('Name').fill('billing-agent');
    await page.getByLabel('Kind').selectOption('test');
    await page.getByLabel('Ends after days').fill('30');
    await page.getByRole('button', { name: 'Create' }).click();
    const made = await page.getByLabel('API key “billing-agent”').locator('code').textContent();
    await server.as(made as string).record({});
    expect((await server.as(made as string).refused('agents.list')).code).toBe('PERMISSION_DENIED');
    await page.getByRole('button', { name: 'I have it' }).click();
    await page.getByLabel('API key “billing-agent”').waitFor({ state: 'detached' });
    expect(await page.content()).not.toContain(made);
    expect(await page.getByRole('row', { name: /^billing-agent/ }).textContent()).toMatch(/in (29|30) days/);
  });

  test('are rotated: a new one is shown, and the old one ends when it was chosen to', async () => {
    const server = await testServer();
    const { apiKey } = await server.server.admin.createKey('default', { name: 'agent', kind: 'test' });
    const { page } = await ConsoleTab.open(server.server.url, server.apiKey, '/keys');
    await page.getByLabel('A rotated key ends').selectOption('0');
    await page
      .getByRole('row', { name: /^agent/ })
      .getByRole('button', { name: 'Rotate' })
      .click();
    await page.getByRole('button', { name: 'Rotate agent' }).click();
    const made = await page.getByLabel('API key “agent”').locator('code').textContent();
    await server.as(made as string).ok('sessions.list');
    expect((await server.as(apiKey).refused('sessions.list')).status).toBe(401);
  });

  test('that end are rotated by one that does not, and the button says so', async () => {
    const server = await testServer();
    const { admin } = server.server;
    await admin.createKey('default', { name: 'agent', expiresInDays: 30 });
    const { page } = await ConsoleTab.open(server.server.url, server.apiKey, '/keys');
    await page
      .getByRole('row', { name: /^agent/ })
      .getByRole('button', { name: 'Rotate' })
      .click();
    await page.getByRole('button', { name: 'Rotate agent by one that does not end' }).click();
    await page.getByLabel('API key “agent”').waitFor();
    expect((await admin.keys('default')).at(-1)).toMatchObject({ name: 'agent', expiresMs: null });
  });

  test('are brought before the person, each as one that is not copied yet', async () => {
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

  test('who revokes the own key is signed out', async () => {
    const server = await testServer();
    const { apiKey } = await server.server.admin.createKey('default', { name: 'mine', kind: 'test' });
    const tab = await ConsoleTab.open(server.server.url, apiKey, '/keys');
    await tab.page.getByRole('row', { name: /^mine/ }).getByRole('button', { name: 'Revoke' }).click();
    await tab.page.getByRole('button', { name: 'Revoke mine, and sign out' }).click();
    await tab.heading('actlog');
    expect((await server.as(apiKey).refused('sessions.list')).status).toBe(401);
  });
});
