import { readFile } from 'node:fs/promises';
import { startServer } from '@actlog/server';
import { expect, onTestFinished, test } from 'vitest';
import { ConsoleServer } from './console-server.ts';
import { ConsoleTab } from './console-tab.ts';

const hostile = '<img src=x onerror=alert(1)>\u202Egnp.exe';

function call(sessionId: string, agentId: string, toolName: string, responseStatus = 200, minutesAgo = 1) {
  const sourceTimestamp = new Date(Date.now() - minutesAgo * 60_000).toISOString();
  const argumentsHash = `sha256:${toolName.length.toString(16).padStart(64, '0')}`;
  return { sessionId, agentId, sourceTimestamp, payload: { toolName, argumentsHash, responseStatus } };
}

test('searches the events of all sessions by the address, follows new ones, and leads to each', async () => {
  const server = await ConsoleServer.create();
  await server.recordMany([
    ...Array.from({ length: 60 }, (_, index) =>
      call(`order-${index % 9}`, 'billing', 'get_order', 200, index),
    ),
    call('order-1', 'billing', 'refund', 500, 2),
    call('order-2', 'mailer', 'send_email', 403, 3),
    call('order-3', hostile, hostile, 500, 4000),
  ]);
  const tab = await ConsoleTab.open(server.server.url, server.apiKey, '/');
  const { page } = tab;
  await page.getByRole('link', { name: 'Events' }).click();
  await tab.heading('Events');
  const rows = page.locator('tbody tr');
  await expect.poll(() => rows.count()).toBe(50);
  await page.getByLabel('Outcome').selectOption('error');
  await expect.poll(() => rows.count()).toBe(2);
  expect(page.url()).toContain('status=error');
  await rows.filter({ hasText: '\\u202egnp.exe' }).first().waitFor();
  await page.getByLabel('When').selectOption('1h');
  await expect.poll(() => rows.count()).toBe(1);
  await page.getByLabel('Outcome').selectOption('denied');
  await rows.filter({ hasText: 'send_email' }).waitFor();
  expect(await tab.accessibilityFaults()).toEqual([]);

  await page.getByRole('button', { name: 'Save this view' }).click();
  await page.getByLabel('Name of the view').fill('Denied lately');
  await page.keyboard.press('Enter');
  await page.getByRole('link', { name: 'Show all' }).click();
  await expect.poll(() => rows.count()).toBe(50);
  await page.getByRole('link', { name: 'Denied lately' }).click();
  await expect.poll(() => rows.count()).toBe(1);

  await page.getByRole('button', { name: 'Follow', exact: true }).click();
  await page.getByRole('button', { name: 'Following' }).waitFor();
  await server.record(call('order-4', 'mailer', 'send_invoice', 403, 0));
  await tab.refreshUntil(rows.filter({ hasText: 'send_invoice' }));

  const [download] = await Promise.all([
    page.waitForEvent('download'),
    page.getByRole('button', { name: 'Save as CSV' }).click(),
  ]);
  const lines = (await readFile(await download.path(), 'utf8')).trimEnd().split('\r\n');
  expect(lines[0]).toBe('time,agentId,sessionId,category,toolName,responseStatus,argumentsHash,eventId');
  expect(lines.slice(1).map((line) => line.split(',')[4])).toEqual(['send_invoice', 'send_email']);

  await rows.getByRole('link', { name: 'send_email' }).click();
  await tab.heading('order-2');
  await expect.poll(() => page.locator('tr:focus').textContent()).toContain('send_email');
});

test('says that nothing matches, and shows what the service refuses', async () => {
  const server = await ConsoleServer.create();
  await server.record(call('s-1', 'billing', 'refund'));
  const tab = await ConsoleTab.open(server.server.url, server.apiKey, '/events?argumentsHash=sha256:none');
  await tab.page.getByText('No event matches.').waitFor();
  await tab.go('/events?category=plan&status=error');
  await tab.page.getByText('because only tool calls have').waitFor();
});

test('renders few rows of a long list, wherever the page is scrolled to', async () => {
  const server = await ConsoleServer.create();
  await server.recordMany(
    Array.from({ length: 600 }, (_, index) => call('long', 'billing', `tool-${index}`, 200, index)),
  );
  const tab = await ConsoleTab.open(server.server.url, server.apiKey, '/events');
  const { page } = tab;
  // Pages of the service are short, so that many are on the page.
  await page.route('**/server/v1/events*', (route) => {
    const url = new URL(route.request().url());
    url.searchParams.set('limit', '200');
    return route.continue({ url: url.href });
  });
  await page.reload();
  await page.getByRole('link', { name: 'tool-0', exact: true }).waitFor();
  const table = page.getByRole('table', { name: 'Events, newest first' });
  for (const count of [401, 601]) {
    await page.getByRole('button', { name: 'Show more' }).click();
    await expect.poll(() => table.getAttribute('aria-rowcount')).toBe(String(count));
  }
  const elements = () => page.evaluate<number>('document.querySelectorAll("*").length');
  expect(await elements()).toBeLessThan(2000);
  await page.evaluate('scrollTo(0, document.body.scrollHeight)');
  await page.getByRole('link', { name: 'tool-599', exact: true }).waitFor();
  expect(await page.getByRole('link', { name: 'tool-0', exact: true }).count()).toBe(0);
  expect(await elements()).toBeLessThan(2000);
  expect(await tab.accessibilityFaults()).toEqual([]);
  await page.evaluate('scrollTo(0, 0)');
  await page.getByRole('link', { name: 'tool-0', exact: true }).waitFor();
  await tab.resize(390);
  await page.evaluate('scrollTo(0, document.body.scrollHeight / 2)');
  await expect.poll(() => table.getByRole('rowheader').count()).toBeGreaterThan(3);
  expect(await tab.overflow()).toBeLessThanOrEqual(0);
});

test('says on each page that lacks old records since when the history cannot be reached', async () => {
  const server = await startServer({
    port: 0,
    database: ':memory:',
    docs: false,
    history: 'http://actlog:secret@127.0.0.1:1/actlog',
  });
  onTestFinished(() => server.close());
  const tab = await ConsoleTab.open(server.url, server.apiKey, '/events');
  const notice = tab.page.getByText(
    /^The history cannot be reached since .+\. Older sessions and events are missing on this page\.$/,
  );
  for (const name of ['Events', 'Sessions']) {
    await tab.page.getByRole('navigation').getByRole('link', { name, exact: true }).click();
    await tab.heading(name);
    await notice.waitFor();
    expect(await tab.accessibilityFaults()).toEqual([]);
  }
  await tab.page.getByRole('navigation').getByRole('link', { name: 'Policies', exact: true }).click();
  await tab.heading('Policies');
  await notice.waitFor({ state: 'detached' });
});
