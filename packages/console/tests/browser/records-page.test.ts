import { startServer } from '@actlog/server';
import { expect, onTestFinished, test } from 'vitest';
import { ConsoleServer } from './console-server.ts';
import { ConsoleTab } from './console-tab.ts';

test('places a legal hold, which its author releases', async () => {
  const server = await ConsoleServer.create();
  const tab = await ConsoleTab.open(server.server.url, server.apiKey, '/');
  const { page } = tab;
  await page.getByRole('link', { name: 'Records' }).click();
  await tab.heading('Records');
  await page.getByText('No legal hold is in force.').waitFor();
  await page.getByLabel('Name').fill('Case 4711');
  await page.getByLabel('Agent').fill('billing');
  await page.getByLabel('From').fill('2026-11-01T00:00');
  await page.getByRole('button', { name: 'Place' }).click();
  await page.getByText('Placed Case 4711: it covers agent billing, from 2026-').waitFor();
  const row = page.getByRole('row').filter({ hasText: 'Case 4711' });
  await expect.poll(() => row.textContent()).toContain('in force');
  await row.getByRole('button', { name: 'Release' }).click();
  await row.getByRole('button', { name: 'Release: retention may delete it' }).click();
  await page.getByText('No legal hold is in force.').waitFor();
  await page.getByRole('link', { name: 'released' }).click();
  await page.getByRole('row').filter({ hasText: 'Case 4711' }).getByText('released').waitFor();
});

test('leaves the holds of an operator to the operator, and shows the retention in force', async () => {
  const server = await ConsoleServer.create();
  const { admin } = server.server;
  await admin.legalHolds.create(server.tenant, { name: 'By the operator' });
  await admin.tenants.setRetention(server.tenant, { sessions: 90 });
  const { page } = await ConsoleTab.open(server.server.url, server.apiKey, '/records');
  const row = page.getByRole('row').filter({ hasText: 'By the operator' });
  await expect.poll(() => row.textContent()).toContain('everything');
  expect(await row.getByRole('button').count()).toBe(0);
  const sessions = page.getByRole('row').filter({ hasText: 'Sessions, with their events' });
  await expect.poll(() => sessions.textContent()).toContain('90 days');
  const decisions = page.getByRole('row').filter({ hasText: 'Decisions' });
  await expect.poll(() => decisions.textContent()).toContain('183 days');
  await page.getByText('Records are not forwarded.').waitFor();
});

test('shows how far each destination of forwarding is behind, and why', async () => {
  process.env.RECORDS_PAGE_TOKEN = 'a token';
  // Nothing listens on this port.
  const url = 'http://127.0.0.1:9';
  const server = await startServer({
    forward: [{ kind: 'splunk', name: 'soc', url, token: { variable: 'RECORDS_PAGE_TOKEN' } }],
  });
  onTestFinished(() => server.close());
  await server.admin.legalHolds.create('default', { name: 'Case 1' });
  const { page } = await ConsoleTab.open(server.url, server.apiKey, '/records');
  const row = page.getByRole('row').filter({ hasText: 'soc' });
  await row.getByText('failing').waitFor();
  const text = await row.textContent();
  expect(text).toContain('splunk');
  expect(text).toMatch(/\d+ entr(y|ies), \d+ s/);
  expect(text).toContain('never');
  expect(text).not.toContain('a token');
  if (process.env.RECORDS_SCREEN) await page.screenshot({ path: process.env.RECORDS_SCREEN, fullPage: true });
});
