import { describe, expect, test } from 'vitest';

import { ConsoleServer } from './console-server.ts';
import { ConsoleTab } from './console-tab.ts';

const hourMs = 3_600_000;

function call(toolName: string, responseStatus: number, hoursAgo = 0) {
  return {
    sourceTimestamp: new Date(Date.now() - hoursAgo * hourMs).toISOString(),
    payload: { toolName, argumentsHash: 'sha256:aa', responseStatus },
  };
}

/** Returns a server with a risky session, errors, a denial, a held action and a webhook. */
async function busyServer(): Promise<ConsoleServer> {
  const server = await ConsoleServer.create();
  const compromised = { sessionId: 'compromised', agentId: 'reviewer' };
  const tools = ['fetch_web_page', 'read_secrets', 'list_customers', 'delete_audit_log', 'send_email'];
  const ids: string[] = [];
  for (const tool of tools) ids.push(...(await server.record({ ...compromised, ...call(tool, 200) })));
  const origins = { to: { from: 'tool', as: 'text', toolName: 'fetch_web_page', eventId: ids[0] } };
  const payload = { eventId: ids.at(-1), toolName: 'send_email', origins, userText: true };
  await server.record({ ...compromised, ...call('', 200), category: 'argument_origins', payload });
  await server.record(
    { sessionId: 'order-1', ...call('get_order', 500) },
    { sessionId: 'order-1', ...call('get_order', 500) },
    { sessionId: 'order-1', ...call('refund', 403) },
    { sessionId: 'old', ...call('get_order', 200, 72) },
  );
  await server.policy({ effect: 'require_approval', match: { tools: ['refund'] } });
  await server.check({ agentId: 'refunder', sessionId: 'order-1' });
  await server.ok('notificationChannels.create', { body: { url: 'http://127.0.0.1:9/hook' } });
  return server;
}

describe('overview', () => {
  test('is the first page, and shows what happened and what needs attention', async () => {
    const { server, apiKey } = await busyServer();
    const { page } = await ConsoleTab.open(server.url, apiKey, '/');
    const total = (name: string) => page.locator('.totals').getByRole('link', { name });
    await total('Tool calls 8 in 2 sessions').waitFor();
    await total('Errors 2 25% of calls').waitFor();
    await total('Denials 1 13% of calls').waitFor();
    await total('Risky sessions 1 50% high or critical').waitFor();
    await total('Waiting 1 for approval, now').waitFor();
    const rows = (region: string) => page.getByRole('region', { name: region }).getByRole('row');
    const needs = page.getByRole('region', { name: 'Needs you' });
    await needs.getByText('Read a web page, then read secrets, listed customers').waitFor();
    await needs.getByRole('article').getByText('refund').first().waitFor();
    await expect.poll(() => rows('Tools that stand out').nth(1).textContent()).toMatch(/^get_order220100%$/);
    await expect
      .poll(() => rows('Agents that stand out').nth(1).textContent())
      .toMatch(/^billing-agent321100%$/);
    await page.getByText('Calls, decisions, all risky sessions and webhooks').click();
    await expect.poll(() => rows('Webhooks').nth(1).textContent()).toContain('127.0.0.1:9');
    await page.getByRole('table', { name: 'Riskiest sessions' }).getByText('compromised').waitFor();
  });

  test('names each color of a chart in its legend', async () => {
    const { server, apiKey } = await busyServer();
    const { page } = await ConsoleTab.open(server.url, apiKey, '/');
    const swatches = page.locator('.swatch:visible');
    await expect.poll(() => swatches.count()).toBe(6);
    const colors = await page.evaluate<(string | false)[]>(`
      [...document.querySelectorAll('.swatch:not([hidden])')].map((one) => {
        const { color, backgroundColor } = getComputedStyle(one);
        return backgroundColor === color && color;
      })
    `);
    expect(colors).not.toContain(false);
    // Denials have the color of critical sessions.
    expect(new Set(colors).size).toBe(5);
  });

  test('leads to the lists behind its counts', async () => {
    const { server, apiKey } = await busyServer();
    const tab = await ConsoleTab.open(server.url, apiKey, '/');
    const { page } = tab;
    const time = 'since=[^&]+&until=[^&]+';
    for (const [link, place] of [
      ['Errors 2', `#/events\\?status=error&${time}`],
      ['Denials 1', `#/events\\?status=denied&${time}`],
      ['Risky sessions 1', `#/sessions\\?risk=70&order=risk&${time}`],
      ['Waiting 1', '#/approvals'],
      [/^critical$/, `#/sessions\\?level=critical&${time}`],
      [/^reviewer$/, '#/agents/reviewer'],
      [/^get_order$/, '#/tools/get_order'],
    ] as const) {
      await page.getByRole('link', { name: link }).first().click();
      expect(new URL(page.url()).hash).toMatch(new RegExp(`^${place}$`));
      await page.goBack();
      await tab.heading('Overview');
    }
    await page.getByRole('link', { name: 'Risky sessions 1' }).click();
    const list = page.getByRole('table', { name: 'Sessions, riskiest first' });
    await list.getByRole('link', { name: 'compromised' }).waitFor();
    await expect.poll(() => list.getByRole('row').count()).toBe(2);
    await page.goBack();
    await page.getByRole('link', { name: 'compromised' }).first().click();
    await tab.heading('compromised');
  });

  test('keeps the span of time in the address', async () => {
    const { server, apiKey } = await busyServer();
    const tab = await ConsoleTab.open(server.url, apiKey, '/');
    const { page } = tab;
    await page.getByRole('link', { name: '7 days' }).click();
    await page.getByRole('link', { name: 'Tool calls 9 in 3 sessions' }).waitFor();
    expect(new URL(page.url()).hash).toBe('#/?span=7d');
    await page.reload();
    await page.getByRole('link', { name: 'Tool calls 9 in 3 sessions' }).waitFor();
    await expect
      .poll(() => page.getByRole('link', { name: '7 days' }).getAttribute('aria-current'))
      .toBe('true');
    await page.getByRole('link', { name: '1 hour' }).click();
    await page.getByRole('link', { name: 'Tool calls 8 in 2 sessions' }).waitFor();
  });

  test('has the data of each chart as a table, and shows a bucket below the pointer', async () => {
    const { server, apiKey } = await busyServer();
    const tab = await ConsoleTab.open(server.url, apiKey, '/?span=1h');
    const { page } = tab;
    await page.getByText('As a table: Errors and denials').click();
    const table = page.getByRole('table', { name: 'Errors and denials, last 1 hour' });
    await expect
      .poll(() => table.getByRole('columnheader').allTextContents())
      .toEqual(['Time', 'Errors', 'Denials']);
    const counts = await table.locator('tbody td:nth-child(2)').allTextContents();
    expect(counts.length).toBeGreaterThanOrEqual(12);
    expect(counts.reduce((sum, count) => sum + Number(count), 0)).toBe(2);
    expect(await tab.accessibilityFaults()).toEqual([]);
    const chart = page.locator('figure', { hasText: 'Errors and denials' });
    const box = await chart.locator('.u-over').boundingBox();
    if (!box) throw new Error('The chart has no size.');
    await page.mouse.move(box.x + box.width / 2, box.y + 20);
    await chart.getByText('Errors 0', { exact: true }).waitFor();
    await page.mouse.move(0, 0);
    await chart.getByText('Errors 2', { exact: true }).waitFor();
    // The bars of now are at the right; the errors are below the denials.
    await page.mouse.click(box.x + box.width - 6, box.y + box.height - 3);
    await expect
      .poll(() => new URL(page.url()).hash)
      .toMatch(/^#\/events\?status=error&since=[^&]+&until=[^&]+$/);
  });

  test('is operated by keyboard', async () => {
    const { server, apiKey } = await busyServer();
    const tab = await ConsoleTab.open(server.url, apiKey, '/');
    const { page } = tab;
    const summary = page.getByText('As a table: Errors and denials');
    await summary.focus();
    await page.keyboard.press('Enter');
    await page.getByRole('table', { name: 'Errors and denials, last 24 hours' }).waitFor();
    await page.getByRole('link', { name: '30 days' }).focus();
    await page.keyboard.press('Enter');
    await expect.poll(() => new URL(page.url()).hash).toBe('#/?span=30d');
  });

  test('fits from 360 to 2560 pixels, with the risk of every session', async () => {
    const busy = await busyServer();
    const { server, apiKey } = busy;
    const long = { sessionId: 'session_'.repeat(20), agentId: 'agent_'.repeat(20) };
    for (const tool of ['fetch_web_page', 'list_customers', 'send_email']) {
      await busy.record({ ...long, ...call(tool, 403) });
    }
    const tab = await ConsoleTab.open(server.url, apiKey, '/');
    const { page } = tab;
    const region = page.getByRole('region', { name: 'Riskiest sessions' });
    await region.getByText('high', { exact: true }).waitFor();
    for (const width of [360, 390, 1280, 1440, 2560]) {
      await tab.resize(width);
      const cut = await page
        .locator('.fits')
        .evaluateAll((boxes) => boxes.map((box) => box.scrollWidth - box.clientWidth));
      expect([width, Math.max(...cut)]).toEqual([width, 0]);
      expect([width, await tab.overflow()]).toEqual([width, 0]);
      expect([width, await region.getByText('high', { exact: true }).isVisible()]).toEqual([width, true]);
    }
  });

  test('shows how to record the first event on a new server', async () => {
    const { server, apiKey } = await ConsoleServer.create();
    const tab = await ConsoleTab.open(server.url, apiKey, '/');
    await tab.page.getByText('npm install @actlog/recorder').waitFor();
    expect(await tab.page.getByRole('figure').count()).toBe(0);
    expect(await tab.accessibilityFaults()).toEqual([]);
  });
});
