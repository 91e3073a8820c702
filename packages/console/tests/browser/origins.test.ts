import type { ArgumentOrigins } from '@actlog/protocol';
import type { Page } from 'playwright-core';
import { describe, expect, test } from 'vitest';
import { activityEvent, checkBody } from '../../../server/tests/test-server.ts';
import { ConsoleServer } from './console-server.ts';
import { ConsoleTab } from './console-tab.ts';

/** Returns a UUID of version 7 with a time; another number gives another id. */
function idAt(time: string, number = 0): string {
  const digits = new Date(time).getTime().toString(16).padStart(12, '0');
  return `${digits.slice(0, 8)}-${digits.slice(8)}-7000-8000-${String(number).padStart(12, '0')}`;
}

/** Origins of every source, on a day that is not today. */
const origins: ArgumentOrigins = {
  amount: { from: 'user' },
  account: { from: 'tool', as: 'field', toolName: 'get_contact', eventId: idAt('2025-11-03T14:01:00Z') },
  subject: { from: 'model' },
  recipient: { from: 'tool', as: 'text', toolName: 'read_file', eventId: idAt('2025-11-03T14:02:00Z') },
  currency: { from: 'system' },
  note: { from: 'unknown' },
};

/** The page's words for the origins, in UTC. */
const sentences = [
  'recipient: from the text that read_file returned on 3 Nov 2025, 14:02',
  'note: not known (older texts were dropped from memory)',
  'subject: written by the model',
  'account: a field that get_contact returned on 3 Nov 2025, 14:01',
  'currency: from the system prompt',
  'amount: from what the user said',
];

const timezoneId = 'UTC';

/** Returns the texts of the origins that stand out by more than their color. */
async function emphasized(page: Page): Promise<unknown> {
  return page.evaluate(
    `[...document.querySelectorAll('.origins li')]
      .filter((item) => getComputedStyle(item).fontWeight === '600').map((item) => item.textContent)`,
  );
}

describe('origins of arguments', () => {
  test('are shown to approvers in words, least trusted first', async () => {
    const server = await ConsoleServer.create();
    await server.policy({ effect: 'require_approval' });
    const action = { ...checkBody().action, origins };
    await server.check({ actionId: 'call-1', action });
    const tab = await ConsoleTab.open(server.server.url, server.apiKey, '/approvals', { timezoneId });
    const { page } = tab;
    await page.getByRole('heading', { name: 'Where the arguments came from' }).waitFor();
    const items = page.getByRole('article').getByRole('listitem');
    await expect.poll(() => items.allTextContents()).toEqual(sentences);
    expect(await emphasized(page)).toEqual(sentences.slice(0, 1));
    expect(await page.getByText(/\d more/).count()).toBe(0);
    expect(await tab.accessibilityFaults()).toEqual([]);
  });

  test('are opened beyond the first eight, and left out of an action without any', async () => {
    const server = await ConsoleServer.create();
    await server.policy({ effect: 'require_approval' });
    const paths = Array.from({ length: 11 }, (_, index) => [`list.${index}`, { from: 'model' }] as const);
    const texts = Array.from(
      { length: 9 },
      (_, index) => [`to\u202E.${index}`, { from: 'tool', as: 'text', toolName: 'read\u200B' }] as const,
    );
    const held = [undefined, {}, Object.fromEntries([...paths, ...texts])];
    for (const [index, origins] of held.entries()) {
      const action = { ...checkBody().action, ...(origins && { origins }) };
      await server.check({ actionId: `call-${index}`, action });
    }
    const { page } = await ConsoleTab.open(server.server.url, server.apiKey, '/approvals');
    const more = page.getByText('12 more, 1 from a tool’s text');
    await more.waitFor();
    await page.getByRole('article').nth(2).waitFor();
    await expect
      .poll(() => page.getByRole('heading', { name: 'Where the arguments came from' }).count())
      .toBe(1);
    const items = page.getByRole('article').getByRole('listitem');
    await expect.poll(() => items.count()).toBe(8);
    await page.emulateMedia({ media: 'print' });
    await page.getByText('list.10: written by the model').waitFor();
    await page.emulateMedia({ media: 'screen' });
    await page.getByText('list.10: written by the model').waitFor({ state: 'hidden' });
    await expect
      .poll(() => items.first().textContent())
      .toBe(String.raw`to\u202e.0: from the text that read\u200b returned`);
    await more.click();
    await expect.poll(() => items.count()).toBe(20);
  });

  test('are shown with their call in a session, or in a row about a call that is not shown', async () => {
    const server = await ConsoleServer.create();
    /** Event of a call, or of the origins of one, at a second of the session. */
    const at = (second: number, eventId: string, category: string, payload: object) => ({
      ...activityEvent({ eventId, category, payload: { toolName: 'send_money', ...payload } }),
      sourceTimestamp: new Date(Date.parse('2025-11-03T14:00:00Z') + 1000 * second).toISOString(),
    });
    const [first, second, gone] = [1, 2, 3].map((number) => idAt('2025-11-03T14:03:00Z', number));
    const call = { argumentsHash: 'sha256:aa', responseStatus: 200 };
    const fromUser = { to: { from: 'user' }, amount: { from: 'user' } };
    await server.record(
      at(0, first as string, 'tool_api', call),
      at(1, idAt('2025-11-03T14:03:00Z', 4), 'argument_origins', { eventId: first?.toUpperCase(), origins }),
      at(2, second as string, 'tool_api', call),
      at(3, idAt('2025-11-03T14:03:00Z', 5), 'argument_origins', { eventId: second, origins: fromUser }),
      at(4, idAt('2025-11-03T14:03:00Z', 6), 'argument_origins', { eventId: gone, origins: fromUser }),
    );
    const tab = await ConsoleTab.open(server.server.url, server.apiKey, '/sessions/thread-1', { timezoneId });
    const events = tab.page.getByRole('table', { name: 'Events, oldest first' });
    const rows = events.locator('tbody').getByRole('row');
    await rows.nth(2).getByText(`About the call with the event id ${gone}.`).waitFor();
    await expect.poll(() => rows.count()).toBe(3);
    await tab.page.getByText('2 events say where arguments came from').waitFor();
    await rows.nth(1).getByText('Where 2 arguments came from').waitFor();
    const summary = rows.nth(0).getByText('1 of 6 arguments from a tool’s text');
    expect(await events.getByRole('listitem').count()).toBe(0);
    await summary.click();
    await events.getByRole('listitem').first().waitFor();
    await expect.poll(() => events.getByRole('listitem').allTextContents()).toEqual(sentences);
    expect(await emphasized(tab.page)).toEqual(sentences.slice(0, 1));
    await rows.nth(2).getByText('Where 2 arguments came from').click();
    await rows.nth(2).getByText('to: from what the user said').waitFor();
    expect(await tab.accessibilityFaults()).toEqual([]);
  });

  test('join their call once its page is loaded', async () => {
    const server = await ConsoleServer.create();
    const startMs = Date.parse('2025-11-03T14:00:00Z');
    const calls = Array.from({ length: 200 }, (_, index) =>
      activityEvent({ sourceTimestamp: new Date(startMs + index).toISOString() }),
    );
    const about = activityEvent({
      category: 'argument_origins',
      payload: { eventId: calls[199]?.eventId, toolName: 'refund', origins },
    });
    await server.recordMany([...calls, about]);
    const { page } = await ConsoleTab.open(server.server.url, server.apiKey, '/sessions/thread-1');
    const events = page.getByRole('table', { name: 'Events' });
    await page.getByText('1 event says where arguments came from').waitFor();
    await expect.poll(() => events.getAttribute('aria-rowcount')).toBe('201');
    await page.locator('.event-scroll').evaluate((element) => {
      element.scrollTop = element.scrollHeight;
    });
    await events.getByRole('row').last().getByText('1 of 6 arguments from a tool’s text').waitFor();
  });

  test('bring the row of the call into view when a reason names their event', async () => {
    const server = await ConsoleServer.create();
    const [call] = await server.record({ payload: { ...activityEvent().payload, toolName: 'send_email' } });
    const payload = { eventId: call, toolName: 'send_email', origins };
    const [about] = await server.record({ category: 'argument_origins', payload });
    const tab = await ConsoleTab.open(server.server.url, server.apiKey);
    const factor = { ruleId: 'test', title: 'A reason', explanation: '', delta: 1, recommendation: '' };
    const json = { factors: [{ ...factor, evidence: { eventIds: [about], count: 1 } }] };
    await tab.page.route('**/v1/sessions/*/risk', (route) => route.fulfill({ json }));
    await tab.go('/sessions/thread-1');
    await tab.page.getByText('from a tool’s text').waitFor();
    await tab.page
      .getByRole('button', { name: /^send_email \+/ })
      .first()
      .click();
    await tab.page.locator('tr:focus').getByRole('rowheader', { name: 'send_email' }).waitFor();
  });

  test('have examples at the condition of a policy', async () => {
    const { server, apiKey } = await ConsoleServer.create();
    const { page } = await ConsoleTab.open(server.url, apiKey, '/policies/new');
    await page.getByRole('button', { name: 'Write the condition in CEL' }).click();
    const condition = page.getByRole('textbox', {
      name: 'Condition',
      description: 'origins.any("tool", "text")',
    });
    await condition.waitFor();
    await page.getByText('origins.recipient.from == "tool"').waitFor();
  });
});
