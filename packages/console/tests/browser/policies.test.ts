import type { Route } from 'playwright-core';
import { describe, expect, onTestFinished, test, vi } from 'vitest';

import { ConsoleServer } from './console-server.ts';
import { ConsoleTab } from './console-tab.ts';

describe('policies page', () => {
  test('creates, changes, tests and archives a policy', async () => {
    const server = await ConsoleServer.create();
    const tab = await ConsoleTab.open(server.server.url, server.apiKey, '/policies');
    const { page } = tab;
    await page.getByRole('link', { name: 'New policy' }).click();
    await page.getByLabel('Name', { exact: true }).fill('Large refunds');
    await page.getByLabel('Tools', { exact: true }).fill('refund, transfer_*');
    await page.getByRole('button', { name: 'any arguments' }).click();
    await page.getByLabel('Argument', { exact: true }).fill('amount');
    await page.getByLabel('Value').fill('100');
    await page.getByLabel('Effect').selectOption('require_approval');
    await page.getByLabel('Mode').selectOption('enforce');
    await page
      .getByText('When any agent calls refund or transfer_* with amount > 100 : ask a person')
      .waitFor();
    await page.getByText('Who approves, for how long').click();
    await page.getByLabel('Nobody decides within').fill('10 min');
    await page.getByLabel('Each approval is for one call').check();
    await page.getByRole('button', { name: 'Create' }).click();
    await tab.heading('Large refunds');
    // The empty form is not in the history.
    await page.goBack();
    await tab.heading('Policies');
    await page.goForward();
    await tab.heading('Large refunds');
    await page.locator('main').getByRole('link', { name: 'Policies' }).click();
    await tab.heading('Policies');
    // The page went back, not forward.
    await page.goForward();
    await tab.heading('Large refunds');
    const [created] = (await server.ok('policies.list')).items;
    expect(created).toMatchObject({
      effect: 'require_approval',
      match: { tools: ['refund', 'transfer_*'] },
      condition: 'args.amount > 100',
      approval: { timeoutSeconds: 600, onTimeout: 'deny', singleUse: true },
      rate: null,
    });

    await page.getByLabel('Each approval is for one call').uncheck();
    await page.getByRole('button', { name: 'Save' }).click();
    await page.getByRole('status').getByText('Saved').waitFor();
    expect((await server.ok('policies.list')).items).toMatchObject([{ approval: { singleUse: false } }]);

    await page.getByLabel('Effect').selectOption('deny');
    await page.getByRole('button', { name: 'Remove refund' }).click();
    await page.getByRole('button', { name: 'Remove transfer_*' }).click();
    await page.getByText('Only in some environments').click();
    await page.getByLabel('More than').fill('0');
    await page.getByRole('button', { name: 'Save' }).click();
    await page.getByRole('button', { name: 'Save it' }).click();
    await page.getByRole('status').getByText('Saved').waitFor();
    expect((await server.ok('policies.list')).items).toMatchObject([
      { effect: 'deny', match: {}, approval: null, rate: { max: 0, windowSeconds: 60, per: 'agent' } },
    ]);

    await tab.go('/policies');
    await page.getByLabel('Agent', { exact: true }).fill('billing-agent');
    await page.getByLabel('Tool', { exact: true }).fill('refund');
    await page.getByLabel('Arguments').fill('{"amount": 250}');
    await page.getByRole('button', { name: 'Try' }).click();
    await page.getByText('Decision: deny').waitFor();
    await page.getByRole('status').getByRole('link', { name: 'Large refunds' }).waitFor();
    await page.getByRole('status').getByText('decides').waitFor();
    expect((await server.ok('guardian.pendingActions.list')).items).toEqual([]);

    await page.getByRole('button', { name: 'Archive', exact: true }).click();
    await page.keyboard.press('Escape');
    await page.getByRole('button', { name: 'Archive', exact: true }).click();
    await page.getByRole('button', { name: 'Archive permanently' }).click();
    await page.getByText('No policy is active').waitFor();
    await page.getByRole('link', { name: 'archived' }).click();
    await page.getByRole('table').getByRole('link', { name: 'Large refunds' }).click();
    await page.getByText('This policy is archived').waitFor();
    await expect.poll(() => page.getByLabel('Name', { exact: true }).isDisabled()).toBe(true);
  });

  test('explains why the service refused a policy, and keeps typed text', async () => {
    const server = await ConsoleServer.create();
    const { page } = await ConsoleTab.open(server.server.url, server.apiKey, '/policies/new');
    await page.getByLabel('Name', { exact: true }).fill('Broken');
    await page.getByRole('button', { name: 'Write the condition in CEL' }).click();
    await page.getByLabel('Condition').fill('args.amount >');
    await page.getByRole('button', { name: 'Create' }).click();
    const told = (await page.getByRole('alert').textContent()) ?? '';
    expect(told.match(/Unexpected token: EOF \(line 1, column 14\)/g)).toHaveLength(1);
    await expect.poll(() => page.getByLabel('Condition').inputValue()).toBe('args.amount >');
    await expect.poll(() => page.getByLabel('Condition').getAttribute('aria-invalid')).toBe('true');
    expect(await page.evaluate('document.activeElement.name')).toBe('condition');
    const [described = ''] = (
      (await page.getByLabel('Condition').getAttribute('aria-describedby')) ?? ''
    ).split(' ');
    await expect.poll(() => page.locator(`[id="${described}"]`).textContent()).toContain('Unexpected token');
    await page.getByRole('button', { name: 'Try on the last 30 days' }).click();
    await expect.poll(() => page.evaluate('document.activeElement.name')).toBe('condition');
    await page.getByLabel('Condition').fill('args.amount > 1.0');
    await page.getByLabel('Tools', { exact: true }).fill('x'.repeat(300));
    await page.getByRole('button', { name: 'Create' }).click();
    await expect.poll(() => page.evaluate('document.activeElement.name')).toBe('tools');
    await expect.poll(() => page.getByLabel('Condition').getAttribute('aria-invalid')).toBeNull();
    expect((await server.ok('policies.list')).items).toEqual([]);
  });

  test('tries the policy in the form on an action before it is saved', async () => {
    const server = await ConsoleServer.create();
    const { page } = await ConsoleTab.open(server.server.url, server.apiKey, '/policies/new');
    await page.getByLabel('Tools', { exact: true }).fill('refund');
    await page.getByRole('button', { name: 'Write the condition in CEL' }).click();
    await page.getByLabel('Condition').fill('args.amount > 100.0');
    await page.getByLabel('Agent', { exact: true }).fill('billing');
    await page.getByLabel('Tool', { exact: true }).fill('refund');
    await page.getByLabel('Arguments').fill('{"amount": 250}');
    await page.getByRole('button', { name: 'Try this action' }).click();
    await page.getByText('Decision: deny').waitFor();
    await page.getByText('The policy in the form decides').waitFor();
    await page.getByLabel('Arguments').fill('{"amount": 5}');
    await page.getByRole('button', { name: 'Try this action' }).click();
    await page.getByText('Decision: allow').waitFor();
    expect((await server.ok('policies.list')).items).toEqual([]);
  });

  test('asks with the number of calls of yesterday before it saves a policy for everything', async () => {
    const server = await ConsoleServer.create();
    const yesterday = new Date();
    yesterday.setHours(-12, 0, 0, 0);
    for (const id of ['a', 'b', 'c']) {
      const payload = { toolName: 'search', argumentsHash: 'sha256:aa', responseStatus: 200 };
      await server.record({ sessionId: `s-${id}`, sourceTimestamp: yesterday.toISOString(), payload });
    }
    const tab = await ConsoleTab.open(server.server.url, server.apiKey, '/policies/new');
    const { page } = tab;
    await page.getByLabel('Name', { exact: true }).fill('Everything');
    const create = page.getByRole('button', { name: 'Create', exact: true });
    await create.click();
    const question = page.getByText('matches every tool of every agent: 3 calls yesterday.');
    await question.waitFor();
    expect(await tab.accessibilityFaults()).toEqual([]);
    await page.keyboard.press('Escape');
    await question.waitFor({ state: 'detached' });
    await create.click();
    await question.waitFor();
    // Another policy than the one of the question.
    await page.getByLabel('Mode').selectOption('enforce');
    await create.click();
    await page.getByText('3 calls yesterday. No call was checked yesterday.').waitFor();
    expect((await server.ok('policies.list')).items).toEqual([]);
    await page.getByRole('button', { name: 'Create it' }).click();
    await tab.heading('Everything');
    expect((await server.ok('policies.list')).items).toMatchObject([{ mode: 'enforce', match: {} }]);
  });

  test('starts from the policies of a pack, which only log', async () => {
    const server = await ConsoleServer.create();
    const tab = await ConsoleTab.open(server.server.url, server.apiKey, '/policies');
    const { page } = tab;
    await page.getByRole('link', { name: 'Start from a pack' }).click();
    await page.getByText('payments', { exact: true }).click();
    await page.getByText('The second policy reads "amount"').waitFor();
    await page.getByRole('button', { name: 'Use Payments: no amounts above 1,000,000' }).click();
    await page.getByText('Payments: moving money needs a person').waitFor({ state: 'hidden' });
    await expect.poll(() => page.getByLabel('Condition').inputValue()).toContain('args.amount > 1000000.0');
    expect(await tab.accessibilityFaults()).toEqual([]);
    await page.getByRole('button', { name: 'Create', exact: true }).click();
    await tab.heading('Payments: no amounts above 1,000,000');
    await tab.go('/policies/new?packs=open');
    await page.getByText('payments', { exact: true }).click();
    await page.getByRole('button', { name: 'Add all 3 to log only' }).click();
    await page.getByText('2 added, to log only. 1 was there already.').waitFor();
    const { items } = await server.ok('policies.list');
    expect(items.map(({ name, mode }) => `${name}, ${mode}`).toSorted()).toEqual([
      'Payments: at most 20 in an hour, log_only',
      'Payments: moving money needs a person, log_only',
      'Payments: no amounts above 1,000,000, log_only',
    ]);
    const [added] = items.filter(({ name }) => name?.includes('1,000,000'));
    expect(added?.match?.tools).toHaveLength(35);
  });

  test('saves only the changed fields', async () => {
    const server = await ConsoleServer.create();
    const { id } = await server.policy({
      name: ' Refunds ',
      description: ' one\n\ntwo ',
      effect: 'require_approval',
      mode: 'log_only',
      priority: -7,
      match: { tools: ['a,b', ' c ', 'd'], agents: ['<b>'], frameworks: ['x'], environments: ['prod'] },
      condition: 'args.amount > 1.0 &&\n  args.amount < 2.5',
      message: 'one\ntwo\n',
      rate: { max: 3, windowSeconds: 90, per: 'tenant' },
      approval: { timeoutSeconds: 60, onTimeout: 'allow' },
    });
    const before = await server.ok('policies.get', { id });
    const tab = await ConsoleTab.open(server.server.url, server.apiKey, `/policies/${id}`);
    const { page } = tab;
    await page.getByRole('button', { name: 'Save' }).click();
    await page.getByRole('status').getByText('Nothing has changed.').waitFor();
    expect(await server.ok('policies.get', { id })).toEqual(before);

    await page.getByLabel('Tools', { exact: true }).fill('e, f');
    await server.ok('policies.update', { id, body: { priority: 5 } });
    await page.getByRole('button', { name: 'Save' }).click();
    await page.getByRole('status').getByText('Saved').waitFor();
    const { updatedAt, version, ...after } = await server.ok('policies.get', { id });
    const match = { ...before.match, tools: ['a,b', ' c ', 'd', 'e', 'f'] };
    expect({ ...before, priority: 5, match }).toMatchObject(after);
  });

  test('keeps text that is typed while a policy is being saved', async () => {
    const server = await ConsoleServer.create();
    const { id } = await server.policy();
    const { page } = await ConsoleTab.open(server.server.url, server.apiKey, `/policies/${id}`);
    const held: Route[] = [];
    await page.getByLabel('Message').fill('first');
    await page.route(`**/v1/policies/${id}`, (route) =>
      route.request().method() === 'GET' ? void held.push(route) : route.continue(),
    );
    await page.getByRole('button', { name: 'Save' }).click();
    await page.getByRole('status').getByText('Saved').waitFor();
    await page.getByLabel('Message').fill('second');
    await expect.poll(() => held.length).toBe(1);
    await held[0]?.continue();
    await page.unrouteAll({ behavior: 'wait' });
    await page.getByText('Description and priority').click();
    await page.getByLabel('Description').fill('of money');
    await page.getByRole('button', { name: 'Save' }).click();
    await expect.poll(async () => (await server.ok('policies.get', { id })).message).toBe('second');
    expect(await server.ok('policies.get', { id })).toMatchObject({ description: 'of money' });
  });

  test('does not navigate back to a new policy after the user went on', async () => {
    const server = await ConsoleServer.create();
    const tab = await ConsoleTab.open(server.server.url, server.apiKey, '/policies/new');
    const { page } = tab;
    const disconnected = Promise.withResolvers<void>();
    await page.route('**/v1/policies', async (route) => {
      await disconnected.promise;
      await route.fulfill({ response: await route.fetch() });
    });
    await page.getByLabel('Name', { exact: true }).fill('Refunds');
    await page.getByLabel('Tools').fill('refund');
    await page.getByRole('button', { name: 'Create' }).click();
    await page.getByRole('link', { name: 'Agents' }).click();
    await tab.heading('Agents');
    disconnected.resolve();
    await page.unrouteAll({ behavior: 'wait' });
    await expect.poll(async () => (await server.ok('policies.list')).items.length).toBe(1);
    await tab.accessibilityFaults();
    expect(page.url()).toContain('#/agents');
  });

  test('does not archive on a double click or a key held down', async () => {
    const server = await ConsoleServer.create();
    await server.policy();
    const { page } = await ConsoleTab.open(server.server.url, server.apiKey, '/policies');
    const archive = page.getByRole('button', { name: 'Archive', exact: true });
    const sent: string[] = [];
    page.on('request', (request) => request.method() === 'DELETE' && sent.push(request.url()));
    await archive.dblclick();
    await page.getByRole('button', { name: 'Cancel' }).click();
    await archive.focus();
    await page.keyboard.down('Enter');
    await page.keyboard.down('Enter');
    await page.keyboard.up('Enter');
    await page.getByRole('button', { name: 'Cancel' }).click();
    expect(sent).toEqual([]);
  });

  test('reports invalid arguments before it sends a check', async () => {
    const server = await ConsoleServer.create();
    const { page } = await ConsoleTab.open(server.server.url, server.apiKey, '/policies');
    const sent: string[] = [];
    page.on('request', (request) => request.url().endsWith('/check') && sent.push(request.url()));
    await page.getByLabel('Agent', { exact: true }).fill('a');
    await page.getByLabel('Tool', { exact: true }).fill('t');
    const alert = page.getByRole('alert').getByText('must be a JSON object');
    for (const text of ['{amount: 1}', 'null', '0', '[1]']) {
      await page.getByLabel('Arguments').fill(text);
      await page.getByRole('button', { name: 'Try' }).click();
      await alert.waitFor();
      // A valid text between two others, so that each has a message of its own.
      await page.getByLabel('Arguments').fill('{}');
      await page.getByRole('button', { name: 'Try' }).click();
      await alert.waitFor({ state: 'detached' });
    }
    expect(sent).toHaveLength(4);
  });

  test('shows further policies in a tab that was open for days', async () => {
    const server = await ConsoleServer.create();
    for (let number = 0; number < 51; number += 1) await server.policy({ name: `p-${number}` });
    const { page } = await ConsoleTab.open(server.server.url, server.apiKey, '/policies');
    const more = page.getByRole('button', { name: 'Show more' });
    await more.waitFor();
    vi.useFakeTimers({ toFake: ['Date'], now: Date.now() + 2 * 86_400_000 });
    onTestFinished(() => void vi.useRealTimers());
    await more.click();
    await page.getByRole('link', { name: 'p-0', exact: true }).waitFor();
  });
});
