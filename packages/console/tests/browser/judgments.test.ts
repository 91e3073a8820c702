import { describe, expect, test } from 'vitest';
import { sentTo } from '../../../server/tests/audit-entries.ts';
import { activityEvent } from '../../../server/tests/test-server.ts';
import { ConsoleServer } from './console-server.ts';
import { ConsoleTab } from './console-tab.ts';

/** Records a session in which an agent acted after it read its inbox. */
async function session(server: ConsoleServer, sessionId: string, agentId = 'newsletter'): Promise<void> {
  const started = Date.now() - 60_000;
  const tools = ['read_inbox', 'send_email', 'delete_email', 'read_inbox'];
  await server.record(
    ...tools.map((toolName, index) =>
      activityEvent({
        sessionId,
        agentId,
        sourceTimestamp: new Date(started + index * 1000).toISOString(),
        payload: { toolName, argumentsHash: `sha256:${index}`, responseStatus: 200 },
      }),
    ),
  );
}

describe('the review of a session', () => {
  test('marks a reason as expected after it has shown the effect, and the list takes it back', async () => {
    const server = await ConsoleServer.create();
    await session(server, 'weekly');
    await session(server, 'other', 'support');
    const before = await server.ok('sessions.risk', { id: 'weekly' });
    const tab = await ConsoleTab.open(server.server.url, server.apiKey, '/sessions/weekly');
    const { page } = tab;
    const title = 'Deletion after untrusted content';
    await page.getByRole('button', { name: `This is expected: ${title}` }).click();
    await page.getByLabel('Reason', { exact: true }).fill('Cleans up after each mail.');
    await page.getByRole('button', { name: 'Show the effect' }).click();
    await page.getByText('Of 1 past session within reach, 1 scores lower.').waitFor();
    expect((await server.ok('sessions.risk', { id: 'weekly' })).score).toBe(before.score);
    await page.getByRole('button', { name: 'Save', exact: true }).click();
    await page.getByText('Saved. Of 1 past session').waitFor();
    await page.getByText('Without the judgments, the score would be').waitFor();
    expect((await server.ok('sessions.risk', { id: 'weekly' })).score).toBeLessThan(before.score);
    await tab.go('/judgments');
    const row = page.getByRole('row', { name: 'Cleans up after each mail.' });
    await row.getByText('misuse.delete-after-untrusted, tool delete_email, agent newsletter').waitFor();
    await row.getByRole('button', { name: 'Undo' }).click();
    await row.getByRole('button', { name: 'Undo: score past sessions without it' }).click();
    await page.getByText('1 scores higher').waitFor();
    await page.getByText('Nobody has judged a reason for risk.').waitFor();
    expect((await server.ok('sessions.risk', { id: 'weekly' })).score).toBe(before.score);
  });

  test('shows the effect again when the form has changed', async () => {
    const server = await ConsoleServer.create();
    await session(server, 'weekly');
    const { page } = await ConsoleTab.open(server.server.url, server.apiKey, '/sessions/weekly');
    await page.getByRole('button', { name: 'Mark a reason as expected' }).click();
    await page.getByLabel('Reason', { exact: true }).fill('Usual.');
    await page.getByRole('button', { name: 'Show the effect' }).click();
    await page.getByRole('button', { name: 'Save', exact: true }).waitFor();
    await page.getByLabel('this session').check();
    await page.getByRole('button', { name: 'Show the effect' }).waitFor();
  });

  test('confirms an attack, handles the session and opens it again', async () => {
    const server = await ConsoleServer.create();
    await session(server, 'weekly');
    const { page } = await ConsoleTab.open(server.server.url, server.apiKey, '/sessions/weekly');
    await page.getByRole('button', { name: 'Confirm an attack' }).click();
    await page.getByLabel('Reason', { exact: true }).fill('Incident 12.');
    await page.getByRole('button', { name: 'Show the effect' }).click();
    await page.getByText('1 scores higher').waitFor();
    await page.getByRole('button', { name: 'Save', exact: true }).click();
    await page.getByText('confirmed attack', { exact: true }).waitFor();
    expect((await server.ok('sessions.risk', { id: 'weekly' })).level).toBe('critical');
    await page.getByRole('button', { name: 'Mark as handled' }).click();
    await page.getByLabel('Reason', { exact: true }).fill('Rotated the keys.');
    await page.locator('form').getByRole('button', { name: 'Mark as handled' }).click();
    await page.getByText('Rotated the keys.').waitFor();
    await page.getByRole('button', { name: 'Open again' }).click();
    await page.getByText('Open again.').waitFor();
  });

  test('has comments and an assignee', async () => {
    const server = await ConsoleServer.create();
    await session(server, 'weekly');
    const tab = await ConsoleTab.open(server.server.url, server.apiKey, '/sessions/weekly');
    const { page } = tab;
    await page.getByText('Assigned to nobody').waitFor();
    await page.getByLabel('Assign to', { exact: true }).fill('grace <b>');
    await page.getByRole('button', { name: 'Assign', exact: true }).click();
    await page.getByText('Assigned to grace <b>.').waitFor();
    await page.getByLabel('Comment', { exact: true }).fill('Asked the team.');
    await page.getByRole('button', { name: 'Add comment' }).click();
    const notes = page.getByRole('list', { name: 'Comments and assignments' });
    await notes.getByText('Asked the team.').waitFor();
    await expect.poll(() => page.getByLabel('Comment', { exact: true }).inputValue()).toBe('');
    await page.getByRole('button', { name: 'Assign to me' }).click();
    await page.getByText('Assigned to startServer.').waitFor();
    await expect.poll(() => notes.getByRole('listitem').count()).toBe(3);
    expect(await tab.accessibilityFaults()).toEqual([]);
    for (const width of [390, 1440, 2560]) {
      await tab.resize(width);
      expect([width, await tab.overflow()]).toEqual([width, 0]);
    }
  });

  test('is only read by users who may not change it', async () => {
    const server = await ConsoleServer.create();
    await session(server, 'weekly');
    const body = {
      kind: 'expected',
      scope: { ruleId: 'goal.detour', agentId: 'newsletter' },
      reason: 'Usual.',
    };
    await sentTo(server, 'POST', '/server/v1/judgments', body);
    const { apiKey } = await server.server.admin.keys.create(server.tenant, { name: 'r', scopes: ['read'] });
    const tab = await ConsoleTab.open(server.server.url, apiKey, '/sessions/weekly');
    await tab.page.getByText('Usual.').waitFor();
    expect(
      await tab.page.getByRole('button', { name: /expected|attack|handled|Assign|comment/ }).count(),
    ).toBe(0);
    await tab.go('/judgments');
    await tab.page.getByRole('row', { name: 'Usual.' }).waitFor();
    expect(await tab.page.getByRole('button', { name: /End|Undo/ }).count()).toBe(0);
  });
});
