import type { Locator, Page } from 'playwright-core';
import { describe, expect, onTestFinished, test, vi } from 'vitest';
import { mailboxTools } from '../../../server/tests/mailbox-tools.ts';

import { ConsoleServer } from './console-server.ts';
import { ConsoleTab } from './console-tab.ts';

const hostile = '<img src=x onerror=alert(1)><script>alert(2)</script>';

/** Records calls one second apart, because the order within a millisecond would be undefined. */
async function session(
  server: ConsoleServer,
  sessionId: string,
  tools: readonly string[],
  agentId = 'mailer',
) {
  const endMs = Date.now();
  const calls = tools.map((toolName, index) => ({
    sessionId,
    agentId,
    sourceTimestamp: new Date(endMs - 1000 * (tools.length - 1 - index)).toISOString(),
    payload: {
      toolName,
      argumentsHash: 'sha256:aa',
      responseStatus: toolName === 'fails' ? 500 : 200,
    },
  }));
  await (calls.length > 50 ? server.recordMany(calls) : server.record(...calls));
}

/** Returns the link to the last event of the first reason about sending. */
function showSent(page: Page): Locator {
  const reasons = page.locator('.factors').getByRole('listitem').filter({ hasText: '"send_email"' });
  return reasons
    .first()
    .locator('p', { hasText: /^\d+ events?:/ })
    .getByRole('button')
    .last();
}

describe('comparison of two sessions', () => {
  test('shows two sessions of the list side by side, with the differences first', async () => {
    const server = await ConsoleServer.create();
    await session(server, 'usual', ['read_email', 'read_email', 'search']);
    await session(server, 'odd', ['read_email', 'search', 'fails', 'delete_mailbox']);
    const tab = await ConsoleTab.open(server.server.url, server.apiKey);
    const { page } = tab;
    await page.getByRole('button', { name: 'Compare' }).click();
    await page.getByText('Pick two sessions to compare.').waitFor();
    await page.getByRole('checkbox', { name: 'Compare usual' }).check();
    await page.getByRole('checkbox', { name: 'Compare odd' }).check();
    expect(await tab.accessibilityFaults()).toEqual([]);
    await page.getByRole('link', { name: 'see them side by side' }).click();
    await tab.heading('Two sessions');
    expect(page.url()).toContain('#/sessions/usual?with=odd');
    await expect
      .poll(() => page.getByRole('table', { name: 'Calls of each tool' }).getByRole('row').allInnerTexts())
      .toEqual(
        ['Tool usual odd', 'read_email 2 1', 'delete_mailbox 0 1', 'fails 0 1', 'search 1 1'].map((row) =>
          row.replaceAll(' ', '\t'),
        ),
      );
    const facts = page.getByRole('table', { name: 'Two sessions' });
    expect(await facts.getByRole('row', { name: 'What it did' }).textContent()).toContain(
      'deleted a mailbox',
    );
    const counts = (name: string) => facts.getByRole('row', { name }).getByRole('cell').allTextContents();
    await expect.poll(() => counts('Events')).toEqual(['3', '4']);
    await expect.poll(() => counts('Errors')).toEqual(['0', '1']);
    const only = page.getByRole('region', { name: 'Only in odd' });
    await only.getByRole('link', { name: 'fails' }).waitFor();
    await page.getByRole('region', { name: 'Only in usual' }).getByText('Nothing that the other').waitFor();
    expect(await tab.accessibilityFaults()).toEqual([]);
    await tab.resize(390);
    expect(await tab.overflow()).toBeLessThanOrEqual(0);
    await only.getByRole('link', { name: 'fails' }).click();
    await tab.heading('odd');
  });

  test('begins at a session, whose id stays picked', async () => {
    const server = await ConsoleServer.create();
    await session(server, 'first', ['search']);
    await session(server, 'second', ['search']);
    const tab = await ConsoleTab.open(server.server.url, server.apiKey, '/sessions/first');
    const { page } = tab;
    await page.getByRole('link', { name: 'Compare with…' }).click();
    await page.getByText('Compare first with another session').waitFor();
    await page.getByRole('checkbox', { name: 'Compare second' }).check();
    await page.getByRole('link', { name: 'see them side by side' }).click();
    await tab.heading('Two sessions');
    await page.getByText('Nothing that the other does not have too.').first().waitFor();
  });
});

describe('sessions page', () => {
  test('filters by the person that sessions are assigned to', async () => {
    const server = await ConsoleServer.create();
    for (const id of ['of-grace', 'of-nobody']) await session(server, id, ['search']);
    const tab = await ConsoleTab.open(server.server.url, server.apiKey, '/sessions/of-grace');
    const { page } = tab;
    await page.getByLabel('Assign to', { exact: true }).fill('Grace Hopper');
    await page.getByRole('button', { name: 'Assign', exact: true }).click();
    await page.getByRole('link', { name: 'Grace Hopper' }).click();
    await tab.heading('Sessions');
    const rows = page.getByRole('table').getByRole('rowheader');
    await expect.poll(() => rows.allTextContents()).toEqual(['of-grace']);
    expect(await page.getByLabel('Assigned to').inputValue()).toBe('Grace Hopper');
    await page.getByLabel('Assigned to').selectOption('nobody');
    await page.getByRole('button', { name: 'Filter', exact: true }).click();
    await expect.poll(() => rows.allTextContents()).toEqual(['of-nobody']);
    expect(page.url()).toContain('assignee=-');
    await page.getByRole('link', { name: 'Show all' }).click();
    await expect.poll(() => rows.count()).toBe(2);
  });

  test('lists sessions with their risk, newest first, and adds new ones', async () => {
    const server = await ConsoleServer.create();
    await session(server, 'first', ['read_email', 'fails']);
    const tab = await ConsoleTab.open(server.server.url, server.apiKey);
    const { page } = tab;
    const rows = page.getByRole('row');
    await rows.nth(1).getByRole('link', { name: 'first' }).waitFor();
    await expect.poll(() => rows.nth(1).textContent()).toMatch(/^first ?\d+ lowmailer21read_email, fails/);
    await session(server, 'second', ['search']);
    await tab.refreshUntil(rows.nth(1).getByRole('link', { name: 'second' }));
  });

  test('filters by agent and by risk, and keeps the filter in the address', async () => {
    const server = await ConsoleServer.create();
    await session(server, 'of-mailer', ['search']);
    await session(server, 'of-coder', ['search'], 'coder');
    const { page } = await ConsoleTab.open(server.server.url, server.apiKey);
    await page.getByRole('link', { name: 'of-coder' }).waitFor();
    await page.getByLabel('Agent').fill('coder');
    await page.getByLabel('Agent').press('Enter');
    await page.getByRole('link', { name: 'of-mailer' }).waitFor({ state: 'detached' });
    await expect.poll(() => page.evaluate('document.activeElement.name')).toBe('agent');
    await page.getByRole('link', { name: 'of-coder' }).waitFor();
    await page.reload();
    await page.getByRole('link', { name: 'of-coder' }).waitFor();
    await expect.poll(() => page.getByLabel('Agent').inputValue()).toBe('coder');
    await page.getByLabel('Risk score from').fill('100');
    await page.getByRole('button', { name: 'Filter' }).click();
    await page.getByText('No session matches all of these filters.').waitFor();
    await page.getByRole('link', { name: 'Show all' }).click();
    await page.getByRole('link', { name: 'of-mailer' }).waitFor();
    await expect.poll(() => page.getByLabel('Agent').inputValue()).toBe('');
    await page.goBack();
    await page.getByText('No session matches all of these filters.').waitFor();
    await expect.poll(() => page.getByLabel('Agent').inputValue()).toBe('coder');
    await page.getByRole('link', { name: 'with a score from 100' }).click();
    await page.getByRole('link', { name: 'of-coder' }).waitFor();
  });

  test('suggests agents and tools, and filters by a part of an agent or the whole name of a tool', async () => {
    const server = await ConsoleServer.create();
    await session(server, 'of-mailer', ['send_email']);
    await session(server, 'of-coder', ['run_shell'], 'coder');
    const { page } = await ConsoleTab.open(server.server.url, server.apiKey);
    const ids = () => page.getByRole('rowheader').allTextContents();
    await page.getByLabel('Agent').fill('AIL');
    await page.locator('datalist option[value="mailer"]').waitFor({ state: 'attached' });
    await page.getByLabel('Agent').press('Enter');
    await expect.poll(ids).toEqual(['of-mailer']);
    expect(page.url()).toContain('agentContains=AIL');
    await page.getByLabel('Agent').fill('');
    await page.getByLabel('Tool').fill('run');
    await page.locator('datalist option[value="run_shell"]').waitFor({ state: 'attached' });
    await page.getByLabel('Tool').fill('run_shell');
    await page.getByLabel('Tool').press('Enter');
    await expect.poll(ids).toEqual(['of-coder']);
    await page.getByLabel('Session id contains').fill('MAIL');
    await page.getByLabel('Tool').fill('');
    await page.getByRole('button', { name: 'Filter' }).click();
    await expect.poll(ids).toEqual(['of-mailer']);
  });

  test('sorts by risk, filters by level, content and time, and Back and Forward repeat it', async () => {
    const server = await ConsoleServer.create();
    await session(server, 'risky', mailboxTools);
    await session(server, 'failed', ['search', 'fails']);
    await server.record({ sessionId: 'old', agentId: 'mailer', sourceTimestamp: '2026-01-01T00:00:00Z' });
    await session(server, 'plain', ['search']);
    const { page } = await ConsoleTab.open(server.server.url, server.apiKey);
    const ids = () => page.getByRole('rowheader').allTextContents();
    await page.getByRole('columnheader', { name: 'Risk' }).getByRole('link').click();
    await expect.poll(async () => (await ids())[0]).toBe('risky');
    await page.getByRole('table', { name: 'Sessions, riskiest first' }).waitFor();
    await expect
      .poll(() => page.getByRole('columnheader', { name: 'Risk' }).getAttribute('aria-sort'))
      .toBe('descending');
    await expect.poll(() => page.getByLabel('Order').inputValue()).toBe('risk');
    await page.getByLabel('With', { exact: true }).selectOption('failed calls');
    await expect.poll(ids).toEqual(['failed']);
    await page.getByLabel('With', { exact: true }).selectOption('any');
    await page.getByLabel('Started', { exact: true }).selectOption('last 24 hours');
    await expect.poll(async () => (await ids()).sort()).toEqual(['failed', 'plain', 'risky']);
    const { level } = (await server.ok('sessions.risk', { id: 'risky' })) as { level: string };
    await page.getByLabel('Level').selectOption(level);
    await expect.poll(async () => (await ids()).includes('plain')).toBe(false);
    await page.goBack();
    await expect.poll(async () => (await ids()).sort()).toEqual(['failed', 'plain', 'risky']);
    await expect.poll(() => page.getByLabel('Level').inputValue()).toBe('');
    await page.goForward();
    await expect.poll(() => page.getByLabel('Level').inputValue()).toBe(level);
    expect(page.url()).toContain('order=risk');
  });

  test('shows every column and the risk from 360 to 2560 pixels', async () => {
    const server = await ConsoleServer.create();
    const long = `conversation-${'x'.repeat(150)}`;
    await session(server, long, mailboxTools, `agent-${'y'.repeat(150)}`);
    const tab = await ConsoleTab.open(server.server.url, server.apiKey);
    const row = tab.page.getByRole('row').last();
    await row.getByRole('link', { name: long }).waitFor();
    for (const width of [360, 390, 768, 1280, 1440, 2560]) {
      await tab.resize(width);
      const cut = await row.locator('th, td').evaluateAll(
        (cells, end) =>
          cells.filter((cell) => {
            const box = cell.getBoundingClientRect();
            return (
              box.width === 0 || box.left < 0 || box.right > end || cell.scrollWidth > cell.clientWidth + 1
            );
          }).length,
        width,
      );
      expect([width, cut]).toEqual([width, 0]);
      expect([width, await tab.overflow()]).toEqual([width, 0]);
      expect([width, await row.locator('.risk .number').isVisible()]).toEqual([width, true]);
      expect([width, await tab.accessibilityFaults()]).toEqual([width, []]);
    }
  });

  test('rounds scores down, so that none seems higher than its level', async () => {
    const server = await ConsoleServer.create();
    await session(server, 'nearly', ['search']);
    const tab = await ConsoleTab.open(server.server.url, server.apiKey);
    await tab.page.route('**/v1/sessions', async (route) => {
      const { items } = await (await route.fetch()).json();
      const risk = { score: 90.99, level: 'medium' };
      await route.fulfill({ json: { items: [{ ...items[0], risk }], nextCursor: null } });
    });
    await tab.page.reload();
    await tab.page.getByRole('row', { name: /^nearly 90 medium/ }).waitFor();
  });

  test("filters by start date in the user's time zone", async () => {
    const server = await ConsoleServer.create();
    // In Kathmandu, days begin at 18:15 UTC.
    for (const time of ['15T18:14:59.999', '15T18:15:00.000', '17T18:14:59.999', '17T18:15:00.000']) {
      await server.record({ sessionId: `at-${time}`, sourceTimestamp: `2026-11-${time}Z` });
    }
    const { server: running, apiKey } = server;
    const { page } = await ConsoleTab.open(running.url, apiKey, '/sessions', {
      timezoneId: 'Asia/Kathmandu',
    });
    await page.getByRole('link', { name: 'at-15T18:14' }).waitFor();
    await page.getByLabel('Started', { exact: true }).selectOption('between days…');
    await page.getByLabel('Started from').fill('2026-11-16');
    await page.getByLabel('Started until').fill('2026-11-17');
    await page.getByRole('button', { name: 'Filter' }).click();
    await expect
      .poll(() => page.getByRole('rowheader').allTextContents())
      .toEqual(['at-17T18:14:59.999', 'at-15T18:15:00.000']);
    await page.reload();
    await page.getByRole('link', { name: 'at-17T18:14' }).waitFor();
    await expect.poll(() => page.getByLabel('Started until').inputValue()).toBe('2026-11-17');
  });

  test('shows sessions in pages until the last', async () => {
    const server = await ConsoleServer.create();
    for (let number = 0; number < 51; number += 1) await session(server, `s-${number}`, ['search']);
    const { page } = await ConsoleTab.open(server.server.url, server.apiKey);
    await page.getByRole('button', { name: 'Show more' }).click();
    await page.getByRole('link', { name: 's-0', exact: true }).waitFor();
    expect(await page.getByRole('button', { name: 'Show more' }).count()).toBe(0);
  });

  test('shows a session: its dimensions, reasons with their events, and the events', async () => {
    const server = await ConsoleServer.create();
    await session(server, 'chat/1', ['read_email', 'send_email', 'delete_email', 'fails']);
    const tab = await ConsoleTab.open(server.server.url, server.apiKey);
    const { page } = tab;
    await page.getByRole('link', { name: 'chat/1' }).click();
    await page.getByText('How the score is computed').click();
    const dimensions = page.getByRole('table', { name: 'Risk by dimension' });
    await dimensions.waitFor();
    // Only those that say something, below the header.
    const { dimensions: all } = await server.ok('sessions.risk', { id: 'chat/1' });
    const told = all.filter(({ observable, score }) => observable && score >= 1);
    await expect.poll(() => dimensions.getByRole('row').count()).toBe(told.length + 1);
    const events = page.getByRole('table', { name: 'Events, oldest first' });
    await events.waitFor();
    await expect
      .poll(() => events.getByRole('rowheader').allTextContents())
      .toEqual(['read_email', 'send_email', 'delete_email', 'fails']);
    await page.getByRole('button', { name: 'send_email +1.000 s', exact: true }).first().click();
    await expect.poll(() => page.evaluate('document.activeElement.id')).toMatch(/^event-/);
    await expect.poll(() => page.locator('tr:focus').getByRole('rowheader').textContent()).toBe('send_email');
    await server.record({ sessionId: 'chat/1', agentId: 'mailer' });
    await tab.refreshUntil(events.getByRole('row').nth(5));
  });

  test('requests a risk once, and again when its session has grown', async () => {
    const server = await ConsoleServer.create();
    await session(server, 'chat', ['search']);
    const { page } = await ConsoleTab.open(server.server.url, server.apiKey, '/sessions');
    await page.clock.install();
    let requested = 0;
    page.on('request', (request) => {
      if (new URL(request.url()).pathname.endsWith('/risk')) requested += 1;
    });
    await page.getByRole('link', { name: 'chat' }).click();
    await page.getByText('Nothing in this session raises its risk.').waitFor();
    await page.getByRole('rowheader', { name: 'search' }).waitFor();
    expect(requested).toBe(1);
    await session(server, 'chat', ['search']);
    await page.clock.runFor(6000);
    await expect.poll(() => requested).toBe(2);
  });

  test('shows the next page without requesting the previous one again', async () => {
    const server = await ConsoleServer.create();
    for (let number = 0; number < 101; number += 1) await session(server, `s-${number}`, ['search']);
    const { page } = await ConsoleTab.open(server.server.url, server.apiKey, '/sessions');
    const cursors: (string | null)[] = [];
    await page.getByRole('link', { name: 's-100', exact: true }).waitFor();
    page.on('request', (request) => {
      const { pathname, searchParams } = new URL(request.url());
      if (pathname === '/v1/sessions') cursors.push(searchParams.get('cursor'));
    });
    await page.clock.pauseAt(Date.now() + 1000);
    for (const last of ['s-51', 's-1', 's-0']) {
      await page.getByRole('link', { name: last, exact: true }).waitFor();
      if (last !== 's-0') await page.getByRole('button', { name: 'Show more' }).click();
      await page.clock.runFor(100);
    }
    expect(cursors).toEqual([expect.any(String), expect.any(String)]);
    expect(new Set(cursors).size).toBe(2);
  });

  test('shows the event that a reason names, however far down', async () => {
    const server = await ConsoleServer.create();
    await session(server, 'long', [...Array<string>(450).fill('search'), 'read_email', 'send_email']);
    const { page } = await ConsoleTab.open(server.server.url, server.apiKey, '/sessions/long');
    const shown = page.locator('tr:focus').getByRole('rowheader', { name: /_email$/ });
    await showSent(page).click();
    await shown.waitFor();
    await page.getByRole('link', { name: 'Sessions' }).first().focus();
    await showSent(page).click();
    await shown.waitFor();
    // Events far above are not rendered.
    await expect
      .poll(() => page.getByRole('table', { name: 'Events' }).getByRole('row').count())
      .toBeLessThan(60);
  });

  test('says that reading events failed, and tries again', async () => {
    const server = await ConsoleServer.create();
    await session(server, 'long', [...Array<string>(250).fill('search'), 'read_email', 'send_email']);
    const tab = await ConsoleTab.open(server.server.url, server.apiKey);
    const { page } = tab;
    await page.route('**/v1/sessions/long?*cursor=*', (route) => route.abort());
    await tab.go('/sessions/long');
    await page.getByRole('alert').getByText('The service cannot be reached.').waitFor();
    await page.unrouteAll();
    await page.getByRole('button', { name: 'Try again' }).click();
    await showSent(page).click();
    await page
      .locator('tr:focus')
      .getByRole('rowheader', { name: /_email$/ })
      .waitFor();
    expect(await page.getByRole('alert').count()).toBe(0);
  });

  test('downloads sessions as the service exports them', async () => {
    const server = await ConsoleServer.create();
    await session(server, 'chat', ['search']);
    const { page } = await ConsoleTab.open(server.server.url, server.apiKey, '/sessions/chat');
    const download = page.waitForEvent('download');
    await page.getByRole('button', { name: 'Download JSON' }).click();
    const chunks: Buffer[] = [];
    for await (const chunk of await (await download).createReadStream()) chunks.push(chunk);
    expect(JSON.parse(Buffer.concat(chunks).toString())).toMatchObject({
      exportVersion: '1.0',
      eventCount: 1,
    });
    expect((await download).suggestedFilename()).toBe('chat.json');
  });

  test('links to a new policy for a tool that was called', async () => {
    const server = await ConsoleServer.create();
    await session(server, 'chat', ['run_shell', 'a,b', 'every*']);
    const { page } = await ConsoleTab.open(server.server.url, server.apiKey, '/sessions/chat');
    const offered = page.getByText('Create a policy for');
    await offered.waitFor();
    // The form separates patterns by commas, and a pattern with a star would match more than the tool.
    await expect.poll(() => offered.getByRole('link').allTextContents()).toEqual(['run_shell']);
    await page.getByRole('link', { name: 'run_shell' }).click();
    await page.getByLabel('Name', { exact: true }).fill('No shell');
    await page.getByRole('button', { name: 'Create' }).click();
    await page.getByRole('heading', { level: 1, name: 'No shell' }).waitFor();
    expect((await server.ok('policies.list')).items).toMatchObject([
      { effect: 'deny', match: { tools: ['run_shell'] } },
    ]);
    const { apiKey } = await server.server.admin.keys.create(server.tenant, {
      name: 'reader',
      scopes: ['read'],
    });
    const reader = await ConsoleTab.open(server.server.url, apiKey, '/sessions/chat');
    await reader.page.getByRole('heading', { name: 'Risk', exact: true }).waitFor();
    await reader.page.getByText('raises its risk').or(reader.page.locator('.factors')).first().waitFor();
    expect(await reader.page.getByText('Create a policy for').count()).toBe(0);
  });

  test('shows each time in local time with its zone, and in UTC', async () => {
    const server = await ConsoleServer.create();
    // The hour that occurs twice in the night of 25 October 2026.
    for (const sourceTimestamp of ['2026-10-25T00:30:00.000Z', '2026-10-25T01:30:00.000Z']) {
      await server.record({ sessionId: 'night', sourceTimestamp });
    }
    for (const [timezoneId, first, second] of [
      ['Europe/Berlin', '02:30:00 CEST', '02:30:00 CET'],
      ['Asia/Kathmandu', '06:15:00 GMT+5:45', '07:15:00 GMT+5:45'],
    ] as const) {
      const { server: running, apiKey } = server;
      const { page } = await ConsoleTab.open(running.url, apiKey, '/sessions/night', { timezoneId });
      await page.getByRole('table', { name: 'Events' }).waitFor();
      const reported = await page
        .locator('time')
        .evaluateAll((times) => times.map((time) => time.getAttribute('title')));
      const whole = [
        `25 Oct 2026, ${first} (2026-10-25T00:30:00.000Z)`,
        `25 Oct 2026, ${second} (2026-10-25T01:30:00.000Z)`,
      ];
      expect(reported).toEqual([...whole, ...whole]);
    }
  });

  test('prints complete times, without controls', async () => {
    const server = await ConsoleServer.create();
    await session(server, 'chat', ['search']);
    const { page } = await ConsoleTab.open(server.server.url, server.apiKey, '/sessions/chat');
    await page.getByRole('table', { name: 'Events' }).waitFor();
    await page.emulateMedia({ media: 'print' });
    await expect.poll(() => page.getByRole('button').allTextContents()).toEqual(['search']);
    const printed = await page.evaluate(
      `getComputedStyle(document.querySelector('.summary time'), '::after').content`,
    );
    expect(printed).toContain('Z)');
  });

  test('shows any name as text', async () => {
    const server = await ConsoleServer.create();
    await session(server, hostile, [hostile, "javascript:alert('3')"], hostile);
    const { page } = await ConsoleTab.open(server.server.url, server.apiKey);
    await page.getByRole('link', { name: hostile }).click();
    await page.getByRole('heading', { level: 1, name: hostile }).waitFor();
    await page.getByRole('rowheader', { name: hostile }).waitFor();
    expect(await page.locator('img, main script').count()).toBe(0);
  });

  test('reports unknown sessions', async () => {
    const server = await ConsoleServer.create();
    const { page } = await ConsoleTab.open(server.server.url, server.apiKey, '/sessions/none');
    await page.getByRole('alert').getByText('There is no such session.').waitFor();
  });

  test('does not interrupt users who went on to another page', async () => {
    const server = await ConsoleServer.create();
    await session(server, 'long', [...Array<string>(250).fill('search'), 'read_email', 'send_email']);
    const tab = await ConsoleTab.open(server.server.url, server.apiKey);
    const { page } = tab;
    const late = Promise.withResolvers<void>();
    await page.route('**/v1/sessions/long?*cursor=*', async (route) => {
      await late.promise;
      await route.continue();
    });
    await tab.go('/sessions/long');
    await showSent(page).click();
    await page.getByRole('button', { name: 'Download JSON' }).focus();
    late.resolve();
    await page.locator('.key-calls').getByRole('button', { name: 'send_email' }).waitFor();
    expect(await page.evaluate('document.activeElement.textContent')).toBe('Download JSON');
  });

  test('says that the event of a reason was not found', async () => {
    const server = await ConsoleServer.create();
    await session(server, 'chat', ['read_email', 'send_email']);
    const tab = await ConsoleTab.open(server.server.url, server.apiKey);
    const [factor] = (await server.ok('sessions.risk', { id: 'chat' })).factors;
    const json = { factors: [{ ...factor, evidence: { eventIds: ['gone'], count: 1 } }] };
    await tab.page.route('**/v1/sessions/*/risk', (route) => route.fulfill({ json }));
    await tab.go('/sessions/chat');
    await tab.page.getByRole('rowheader', { name: 'send_email' }).waitFor();
    await tab.page.getByRole('button', { name: 'event 1' }).click();
    await tab.page.getByRole('status').getByText('not among the first 2').waitFor();
  });

  test('learns from a session at medium or above once the user confirms it as expected', async () => {
    const server = await ConsoleServer.create();
    vi.useFakeTimers({ toFake: ['Date'], now: Date.now() - 31 * 60_000 });
    onTestFinished(() => void vi.useRealTimers());
    await session(server, 'quiet', ['search'], 'assistant');
    await session(server, 'ended', mailboxTools, 'assistant');
    vi.useRealTimers();
    await session(server, 'open', mailboxTools, 'assistant');
    const { page } = await ConsoleTab.open(server.server.url, server.apiKey);
    const usual = page.getByRole('button', { name: 'This session was benign' });
    const visit = async (id: string, text: string) => {
      await page.goto(`${server.server.url}/console/#/sessions/${id}`);
      await page.getByText(text).waitFor();
    };
    await visit('quiet', 'Create a policy for');
    expect(await usual.count()).toBe(0);
    await visit('open', 'unless a person confirms them here, half an hour after the last event.');
    expect(await usual.count()).toBe(0);
    await visit('ended', 'unless a person confirms them.');
    await usual.click();
    await page.getByRole('button', { name: 'Yes, add it to the baseline of assistant' }).click();
    await page.getByText('Learned. New sessions of assistant').waitFor();
  });
});
