import { describe, expect, test } from 'vitest';
import { checkBody } from '../../../server/tests/test-server.ts';
import { ConsoleServer } from './console-server.ts';
import { ConsoleTab } from './console-tab.ts';

/** An object that cannot be converted to text. */
const textless = { toString: 1, valueOf: 1 };

describe('content from agents', () => {
  test('cannot hide a session', async () => {
    const server = await ConsoleServer.create();
    await server.record(
      { category: 'x', payload: { argumentsHash: textless, toolName: textless, responseStatus: textless } },
      { category: 'y', payload: { argumentsHash: ['a'], key: 'notes' } },
    );
    const { page } = await ConsoleTab.open(server.server.url, server.apiKey, '/sessions/thread-1');
    await page.getByRole('rowheader', { name: 'notes' }).waitFor();
  });

  test('keeps controls visible, however long names are', async () => {
    const server = await ConsoleServer.create();
    const name = 'long_'.repeat(40);
    await server.ok('agents.create', { body: { id: 'registered', name, owner: name } });
    await server.policy({ match: { tools: [name.slice(0, 100)] } });
    const payload = { toolName: name.slice(0, 128), argumentsHash: 'sha256:aa', responseStatus: 200 };
    await server.record({ sessionId: 'chat', payload });
    const viewport = { width: 1280, height: 800 };
    const tab = await ConsoleTab.open(server.server.url, server.apiKey, '/sessions', { viewport });
    for (const [title, last] of [
      ['Sessions', 'Last event'],
      ['Agents', 'Actions'],
      ['Policies', 'Actions'],
    ] as const) {
      await tab.go(`/${title.toLowerCase()}`);
      await tab.heading(title);
      const head = await tab.page.getByRole('columnheader', { name: last }).boundingBox();
      const end = head === null ? Number.NaN : head.x + head.width;
      expect([title, end]).toEqual([title, expect.toSatisfy((x) => x <= viewport.width)]);
    }
  });

  test('is shown to approvers without characters that reorder or hide text', async () => {
    const server = await ConsoleServer.create();
    await server.policy({ effect: 'require_approval' });
    const path = '/srv/\u202Egpj.hs\u2066\u200B\u3164\uFE0F\u2028';
    const action = { ...checkBody().action, toolName: 'run\u202E', arguments: { path } };
    await server.check({ actionId: 'call-1', action });
    const { page } = await ConsoleTab.open(server.server.url, server.apiKey, '/approvals');
    const shown = await page.locator('pre').textContent();
    expect(shown).toContain(String.raw`/srv/\u202egpj.hs\u2066\u200b\u3164\ufe0f\u2028`);
    expect(JSON.parse(shown ?? '')).toEqual({ path });
    // The browser does not translate it, either.
    await expect.poll(() => page.locator('pre').getAttribute('translate')).toBe('no');
    const name = page.getByRole('heading', { level: 3 });
    await expect.poll(() => name.textContent()).toBe(String.raw`run\u202e by billing-agent`);
  });

  test('shows hidden and direction-changing characters as escapes on every page', async () => {
    const server = await ConsoleServer.create();
    const odd = 'ab\u202Ecd\u2066\u200B';
    await server.ok('agents.create', { body: { id: odd, name: odd, owner: odd, version: odd } });
    await server.policy({
      name: odd,
      effect: 'require_approval',
      message: odd,
      match: { tools: [`${odd}*`] },
    });
    await server.server.admin.keys.create(server.tenant, { name: 'on\u00ADduty', kind: 'test' });
    const payload = { toolName: odd, argumentsHash: 'sha256:aa', responseStatus: 200 };
    await server.record({ agentId: odd, sessionId: 'chat\u200B', category: 'tool_api', payload });
    await server.record({
      agentId: odd,
      sessionId: 'chat\u200B',
      category: `other${odd}`,
      payload: { odd },
    });
    await server.check({
      agentId: odd,
      sessionId: 'chat\u200B',
      action: { toolName: odd, argumentsHash: 'x' },
    });
    const tab = await ConsoleTab.open(server.server.url, server.apiKey);
    for (const [place, heading] of [
      ['/sessions', 'Sessions'],
      ['/sessions/chat%E2%80%8B', String.raw`chat\u200b`],
      ['/agents', 'Agents'],
      ['/policies', 'Policies'],
      ['/approvals', 'Approvals'],
      ['/keys', 'Keys'],
    ] as const) {
      await tab.go(place);
      await tab.heading(heading);
      await tab.page
        .getByText(/\\u(202e|00ad)/)
        .first()
        .waitFor();
      const shown = `[document.title, document.body.innerText,
        ...document.querySelectorAll('[title], [aria-label]').values()
          .flatMap((one) => [one.title, one.ariaLabel ?? ''])].join(' ')`;
      expect(await tab.page.evaluate(shown)).not.toMatch(/[\p{Cf}\p{Default_Ignorable_Code_Point}]/u);
    }
  });

  test('is escaped in the reason, too, which may quote it', async () => {
    const server = await ConsoleServer.create();
    await server.policy({ effect: 'require_approval', condition: 'bool(args.sure)' });
    const action = { ...checkBody().action, arguments: { sure: 'no\u202Eeno yb devorppa' } };
    await server.check({ actionId: 'call-1', action });
    const { page } = await ConsoleTab.open(server.server.url, server.apiKey, '/approvals');
    const reason = page.getByText('the condition cannot be evaluated');
    await expect.poll(() => reason.textContent()).toContain(String.raw`"no\u{202e}eno yb devorppa"`);
    await expect.poll(() => reason.getAttribute('translate')).toBe('no');
  });

  test('is shown completely above the buttons, however long', async () => {
    const server = await ConsoleServer.create();
    await server.policy({ effect: 'require_approval' });
    const lines = Array.from({ length: 200 }, (_, index) => `line ${index}`);
    const action = { ...checkBody().action, arguments: { lines } };
    await server.check({ actionId: 'call-1', action });
    const tab = await ConsoleTab.open(server.server.url, server.apiKey, '/approvals');
    await tab.page.getByText('"line 199"').waitFor();
    const beyond = `(({ scrollHeight, clientHeight }) => scrollHeight - clientHeight)(document.querySelector('pre'))`;
    expect(await tab.page.evaluate(beyond)).toBe(0);
    expect(await tab.accessibilityFaults()).toEqual([]);
  });

  test('stays within its card, however long names are', async () => {
    const server = await ConsoleServer.create();
    await server.policy({ effect: 'require_approval' });
    const name = 'n'.repeat(200);
    await server.record({ agentId: name, sessionId: name });
    const action = { ...checkBody().action, toolName: name };
    await server.check({ agentId: name, sessionId: name, action });
    const { page } = await ConsoleTab.open(server.server.url, server.apiKey, `/sessions/${name}`);
    await page.getByRole('article').waitFor();
    const beyond = `document.documentElement.scrollWidth - document.documentElement.clientWidth`;
    expect(await page.evaluate(beyond)).toBe(0);
  });

  test('shows every digit of a number that no double holds', async () => {
    const server = await ConsoleServer.create();
    await server.policy({ effect: 'require_approval' });
    const arguments_ = { list: [{ account: 1 }] };
    const body = JSON.stringify(checkBody({ action: { ...checkBody().action, arguments: arguments_ } }));
    await server.ok('policies.check', { body: body.replace(':1}', ':12345678901234567891}') });
    const { page } = await ConsoleTab.open(server.server.url, server.apiKey, '/approvals');
    await page.getByText('12345678901234567891').waitFor();
    expect(await page.getByText('may differ in their last digits').count()).toBe(0);
  });
});
