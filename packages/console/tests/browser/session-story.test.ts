import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { describe, expect, test } from 'vitest';
import { lengthenSession } from '../../../server/tests/lengthen-session.ts';
import { atTestEnd } from '../../../server/tests/test-end.ts';
import { type TestServer, testServer } from '../../../server/tests/test-server.ts';
import { ConsoleServer } from './console-server.ts';
import { ConsoleTab } from './console-tab.ts';

const startMs = Date.UTC(2026, 10, 20, 9);

interface Call {
  readonly toolName: string;
  readonly status?: number;
}

/** Records calls ten seconds apart. */
async function calls(server: TestServer, sessionId: string, all: readonly Call[]): Promise<void> {
  for (const [index, { toolName, status = 200 }] of all.entries()) {
    await server.record({
      sessionId,
      agentId: 'mailer',
      sourceTimestamp: new Date(startMs + index * 10_000).toISOString(),
      payload: { toolName, argumentsHash: `sha256:${'ab'.repeat(30)}${index}`, responseStatus: status },
    });
  }
}

const incident: readonly Call[] = [
  { toolName: 'fetch_web_page' },
  { toolName: 'read_secrets' },
  { toolName: 'search' },
  { toolName: 'send_email' },
  { toolName: 'delete_user', status: 500 },
];

/** Starts a server with a session of many events, which are written directly: thousands of requests take long. */
async function withManyEvents(count: number): Promise<TestServer> {
  const folder = mkdtempSync(join(tmpdir(), 'actlog-story-'));
  atTestEnd(async () => rmSync(folder, { recursive: true }));
  const database = join(folder, 'story.db');
  const server = await testServer({ database });
  await calls(server, 'long', [{ toolName: 'search' }]);
  await lengthenSession(database, { sessionId: 'long', startMs, count });
  return server;
}

describe('session page', () => {
  test('shows the few calls that matter, marks their rows, and jumps to them', async () => {
    const server = await ConsoleServer.create();
    await calls(server, 'incident', [{ toolName: 'calculate' }, ...incident]);
    await server.policy({ effect: 'deny', match: { tools: ['drop_*'] } });
    await server.policy({ effect: 'require_approval', match: { tools: ['pay'] } });
    for (const toolName of ['drop_table', 'pay']) {
      const action = { toolName, argumentsHash: 'sha256:cc' };
      await server.check({ agentId: 'mailer', sessionId: 'incident', action });
    }
    const tab = await ConsoleTab.open(server.server.url, server.apiKey, '/sessions/incident');
    const { page } = tab;
    const key = page.locator('.key-calls');
    await key.getByRole('listitem').filter({ hasText: 'drop_table' }).getByText('denied').waitFor();
    await key.getByRole('listitem').filter({ hasText: 'pay' }).getByText('held').waitFor();
    await key.getByRole('listitem').filter({ hasText: 'read_secrets' }).getByText('risky').waitFor();
    await key.getByRole('listitem').filter({ hasText: 'delete_user' }).getByText('status 500').waitFor();
    expect(await key.getByText('calculate', { exact: true }).count()).toBe(0);
    await key.getByRole('button', { name: 'read_secrets' }).click();
    await expect
      .poll(() => page.locator('tr:focus').getByRole('rowheader').textContent())
      .toBe('read_secrets');
    const events = page.getByRole('table', { name: 'Events, oldest first' });
    await events.getByRole('row', { name: 'drop_table' }).getByText('denied').waitFor();
    await page.getByText('Calculated, then read a web page').waitFor();
    await page.getByRole('link', { name: '1 denied' }).click();
    expect(new URL(page.url()).hash).toBe('#/sessions/incident?show=denied');
    await expect.poll(() => events.getByRole('rowheader').count()).toBe(1);
    await page.getByLabel('Show', { exact: true }).selectOption('all events');
    await page.locator('.timeline .mark-denied').last().dispatchEvent('click');
    await expect
      .poll(() => page.locator('tr:focus').getByRole('rowheader').textContent())
      .toMatch(/^drop_table/);
    expect(await tab.accessibilityFaults()).toEqual([]);
  });

  test('opens a row: whole hash, ids, reasons, and the decision about the call', async () => {
    const server = await ConsoleServer.create();
    await calls(server, 'incident', incident);
    const { id: policyId } = await server.policy({ effect: 'allow', match: { tools: ['send_email'] } });
    const argumentsHash = `sha256:${'ab'.repeat(30)}3`;
    const action = { toolName: 'send_email', argumentsHash };
    await server.check({ agentId: 'mailer', sessionId: 'incident', action });
    const tab = await ConsoleTab.open(server.server.url, server.apiKey, '/sessions/incident');
    const { page } = tab;
    const opener = page.getByRole('rowheader').getByRole('button', { name: 'send_email' });
    await opener.click();
    await expect.poll(() => opener.getAttribute('aria-expanded')).toBe('true');
    const details = page.locator('.event-details');
    await details.getByText(argumentsHash, { exact: true }).waitFor();
    await details.locator(`a[href="#/policies/${policyId}"]`).waitFor();
    await details.getByText('Untrusted content').first().waitFor();
    expect(await tab.accessibilityFaults()).toEqual([]);
    await opener.click();
    await expect.poll(() => details.count()).toBe(0);
  });

  test('relates the score, its dimensions and its reasons in visible text', async () => {
    const server = await ConsoleServer.create();
    await calls(server, 'incident', incident);
    const { score, factors, dimensions } = await server.ok('sessions.risk', { id: 'incident' });
    const { page } = await ConsoleTab.open(server.server.url, server.apiKey, '/sessions/incident');
    const highest = dimensions.toSorted((one, other) => other.score - one.score)[0];
    await page.getByText('How the score is computed').click();
    const relation = page.getByText(`The session scores ${Math.floor(score)}.`);
    await relation.getByText(`Its highest dimension is ${highest?.id}`).waitFor();
    const [strongest] = factors;
    const without = (score - (strongest?.delta ?? 0)).toFixed(1);
    await page.getByRole('table', { name: 'Score without each reason' }).getByText(without).first().waitFor();
  });

  test('shows errors only, and goes to a time', async () => {
    const server = await ConsoleServer.create();
    await calls(server, 'incident', incident);
    const { server: running, apiKey } = server;
    const { page } = await ConsoleTab.open(running.url, apiKey, '/sessions/incident', { timezoneId: 'UTC' });
    const names = () => page.getByRole('rowheader').getByRole('button').allTextContents();
    await page.getByLabel('Show', { exact: true }).selectOption('errors only');
    await expect.poll(names).toEqual(['delete_user']);
    await page.getByLabel('Show', { exact: true }).selectOption('all events');
    await expect.poll(names).toHaveLength(5);
    await page.getByLabel('Go to time').fill('2026-11-20T09:00:15');
    await page.getByRole('button', { name: 'Go', exact: true }).click();
    await expect.poll(() => page.locator('tr:focus').getByRole('rowheader').textContent()).toBe('search');
  });

  test('scrolls ten thousand events with few elements, reading pages as they are needed', async () => {
    const server = await withManyEvents(10_000);
    const { page } = await ConsoleTab.open(server.server.url, server.apiKey, '/sessions/long');
    await page.getByText('2000 of 10000 events are read.').waitFor();
    // The service counts in all events, also in those that the page has not read.
    await page.getByRole('link', { name: '1 failed' }).waitFor();
    await page.locator('.timeline .mark-error').waitFor();
    await page.locator('.key-calls').getByRole('button', { name: 'last_call' }).waitFor();
    const events = page.getByRole('table', { name: 'Events, oldest first' });
    await expect.poll(() => events.getAttribute('aria-rowcount')).toBe('10001');
    const elements = () => page.evaluate<number>('document.querySelectorAll("*").length');
    expect(await elements()).toBeLessThan(5000);
    await page.locator('.event-scroll').evaluate((element) => {
      element.scrollTop = element.scrollHeight / 4;
    });
    await events.getByRole('row').filter({ hasText: '+0:4' }).first().waitFor();
    expect(await elements()).toBeLessThan(5000);
    await page.getByLabel('Show', { exact: true }).selectOption('errors only');
    await page.getByRole('rowheader', { name: 'last_call' }).waitFor();
    await page.getByRole('rowheader', { name: 'last_call' }).getByRole('button').click();
    await page.getByLabel('Show', { exact: true }).selectOption('all events');
    await page.locator('.key-calls').getByRole('button', { name: 'last_call' }).click();
    await page.locator('tr:focus').getByRole('rowheader', { name: 'last_call' }).waitFor();
    expect(await elements()).toBeLessThan(5000);
  });

  test('jumps to an event and to a time far in a session without reading what is before', async () => {
    const server = await withManyEvents(10_000);
    const { server: running, apiKey } = server;
    const tab = await ConsoleTab.open(running.url, apiKey, '/sessions/long', { timezoneId: 'UTC' });
    const { page } = tab;
    await page.getByText('2000 of 10000 events are read.').waitFor();
    let pages = 0;
    page.on('request', (request) => {
      if (/\/v1\/sessions\/long\?.*limit=200/.test(request.url())) pages += 1;
    });
    await page.locator('.key-calls').getByRole('button', { name: 'last_call' }).click();
    await page.locator('tr:focus').getByRole('rowheader', { name: 'last_call' }).waitFor();
    await page.getByText('9,949 earlier events are not shown, and 0 later ones').waitFor();
    expect(pages).toBe(1);
    expect(await tab.accessibilityFaults()).toEqual([]);
    await page.getByLabel('Go to time').fill('2026-11-20 10:23:20');
    await page.getByRole('button', { name: 'Go', exact: true }).click();
    await page.locator('tr:focus').getByText('+1:23:20').waitFor();
    expect(pages).toBe(2);
    await page.getByRole('button', { name: 'Show from the start' }).click();
    await page.getByText('200 of 10000 events are read.').waitFor();
    await page.getByLabel('Show', { exact: true }).selectOption('errors only');
    await page.getByRole('rowheader', { name: 'last_call' }).waitFor();
  });

  test('names the policy in the row of a denial', async () => {
    const server = await ConsoleServer.create();
    await server.policy({ name: 'No refunds at night', effect: 'deny' });
    const action = { toolName: 'refund', argumentsHash: 'sha256:aa' };
    await server.check({ agentId: 'mailer', sessionId: 'denied', action });
    await server.record({
      agentId: 'mailer',
      sessionId: 'denied',
      payload: { ...action, responseStatus: 403 },
    });
    const tab = await ConsoleTab.open(server.server.url, server.apiKey, '/sessions/denied');
    const rows = tab.page.getByRole('table', { name: 'Events, oldest first' }).getByRole('row');
    for (const row of [rows.nth(1), rows.nth(2)]) {
      await row.getByRole('link', { name: 'No refunds at night' }).waitFor();
    }
    expect(await tab.accessibilityFaults()).toEqual([]);
  });

  test('says which part was counted where the service counts nothing', async () => {
    const server = await withManyEvents(3000);
    const tab = await ConsoleTab.blank(server.server.url);
    const { page } = tab;
    await page.route('**/server/v1/sessions/*/marks', (route) => route.fulfill({ status: 404, json: {} }));
    // The first pages only: the rest stays unread.
    await tab.visit(server.server.url, server.apiKey, '/sessions/long');
    await page.getByText('Hatched: 1,000 events that are not read yet.').waitFor();
    await page.getByText('0 in the first 2,000 of 3,000 events').first().waitFor();
    await page.getByText('No event stands out in the first 2,000 of 3,000 events').waitFor();
    await page.getByLabel('Show', { exact: true }).selectOption('errors only');
    await page.getByRole('rowheader', { name: 'last_call' }).waitFor();
    await page.getByRole('link', { name: '1 failed' }).waitFor();
    expect(await page.getByText('in the first').count()).toBe(0);
  });
});
