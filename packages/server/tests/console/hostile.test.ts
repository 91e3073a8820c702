import { describe, expect, test } from 'vitest';
import { checkBody, testServer } from '../test-server.ts';
import { ConsoleTab, hasBrowser, useBrowser } from './console-tab.ts';

/** No text can be made of it. */
const textless = { toString: 1, valueOf: 1 };

describe.skipIf(!hasBrowser)('what an agent sends', () => {
  useBrowser();

  test('cannot keep a session from being seen', async () => {
    const server = await testServer();
    await server.record(
      { category: 'x', payload: { argumentsHash: textless, toolName: textless, responseStatus: textless } },
      { category: 'y', payload: { argumentsHash: ['a'], key: 'notes' } },
    );
    const { page } = await ConsoleTab.open(server.server.url, server.apiKey, '/sessions/thread-1');
    await page.getByRole('rowheader', { name: 'notes' }).waitFor();
  });

  test('leaves what can be done about it in view, however long its names are', async () => {
    const server = await testServer();
    const name = 'long_'.repeat(40);
    await server.ok('agents.create', { body: { id: 'registered', name, owner: name } });
    await server.policy({ match: { tools: [name.slice(0, 100)] } });
    const payload = { toolName: name.slice(0, 128), argumentsHash: 'sha256:aa', responseStatus: 200 };
    await server.record({ sessionId: 'chat', payload });
    const viewport = { width: 1280, height: 800 };
    const tab = await ConsoleTab.open(server.server.url, server.apiKey, '', { viewport });
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

  test('is shown to who decides without what turns or hides text', async () => {
    const server = await testServer();
    await server.policy({ effect: 'require_approval' });
    const path = '/srv/\u202Egpj.hs\u2066\u200B\u3164\uFE0F\u2028';
    const action = { ...checkBody().action, toolName: 'run\u202E', arguments: { path } };
    await server.check({ actionId: 'call-1', action });
    const { page } = await ConsoleTab.open(server.server.url, server.apiKey, '/approvals');
    const shown = await page.locator('pre').textContent();
    expect(shown).toContain(String.raw`/srv/\u202egpj.hs\u2066\u200b\u3164\ufe0f\u2028`);
    expect(JSON.parse(shown ?? '')).toEqual({ path });
    // Nor is it put into another language by the browser.
    expect(await page.locator('pre').getAttribute('translate')).toBe('no');
    const name = page.getByRole('heading', { level: 3 });
    expect(await name.textContent()).toBe(String.raw`run\u202e by billing-agent`);
  });

  test('is shown so in the reason, too, which may quote it', async () => {
    const server = await testServer();
    await server.policy({ effect: 'require_approval', condition: 'bool(args.sure)' });
    const action = { ...checkBody().action, arguments: { sure: 'no\u202Eeno yb devorppa' } };
    await server.check({ actionId: 'call-1', action });
    const { page } = await ConsoleTab.open(server.server.url, server.apiKey, '/approvals');
    const reason = page.getByText('the condition cannot be told');
    expect(await reason.textContent()).toContain(String.raw`"no\u{202e}eno yb devorppa"`);
    expect(await reason.getAttribute('translate')).toBe('no');
  });

  test('is shown in whole above the buttons, however long', async () => {
    const server = await testServer();
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

  test('stays within its card, however long its names are', async () => {
    const server = await testServer();
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

  test('is not taken for exact where its numbers are not', async () => {
    const server = await testServer();
    await server.policy({ effect: 'require_approval' });
    const arguments_ = { list: [{ account: 1 }] };
    const body = JSON.stringify(checkBody({ action: { ...checkBody().action, arguments: arguments_ } }));
    await server.ok('policies.check', { body: body.replace(':1}', ':12345678901234567891}') });
    const { page } = await ConsoleTab.open(server.server.url, server.apiKey, '/approvals');
    await page.getByText('may differ in their last digits').waitFor();
  });
});
