import { expect, test } from 'vitest';
import { ConsoleServer } from './console-server.ts';
import { ConsoleTab } from './console-tab.ts';

const shown = { amount: 900, to: 'ada', paths: ['a', 'b'], id: 1917043659912705 };

async function hold(server: ConsoleServer, approval: object = {}, fields: object = {}): Promise<string> {
  const editable = [
    { path: 'amount', max: 500 },
    { path: 'to', oneOf: ['grace', 'alan'] },
    { path: 'paths', subset: true },
  ] as const;
  await server.policy({
    effect: 'require_approval',
    approval: { timeoutSeconds: 900, onTimeout: 'deny', editable, ...approval },
  });
  const action = { toolName: 'refund', argumentsHash: 'sha256:aa', arguments: shown, acceptsChanges: true };
  const check = await server.check({ actionId: 'call-1', action: { ...action, ...fields } });
  return check.pendingActionId as string;
}

async function heldAction(server: ConsoleServer, id: string, status: 'pending' | 'approved') {
  const { items } = await server.ok('guardian.pendingActions.list', { query: { status } });
  return items.find((item) => item.id === id);
}

test('changes arguments before an approval, and shows them before and after', async () => {
  const server = await ConsoleServer.create();
  const id = await hold(server);
  const tab = await ConsoleTab.open(server.server.url, server.apiKey, '/approvals');
  const card = tab.page.getByRole('article');
  await card.getByText('Change arguments before approving').click();
  await card.getByLabel('amount').fill('400');
  await card.getByLabel('to', { exact: true }).selectOption('alan');
  await card.getByRole('checkbox', { name: '"a"' }).uncheck();
  const list = card.getByRole('list', { name: 'Changed arguments' });
  await expect
    .poll(() => list.getByRole('listitem').allTextContents())
    .toEqual(['amount: 900 to 400', 'to: "ada" to "alan"', 'paths: ["a","b"] to ["b"]']);
  expect(await tab.accessibilityFaults()).toEqual([]);
  await card.getByRole('button', { name: 'Approve with changes' }).click();
  await tab.page.getByRole('status').getByText('refund by billing-agent: approved.').waitFor();
  expect(await heldAction(server, id, 'approved')).toMatchObject({
    changedArguments: { amount: 400, to: 'alan', paths: ['b'] },
  });
});

test('says why the service refuses a change', async () => {
  const server = await ConsoleServer.create();
  await hold(server);
  const { page } = await ConsoleTab.open(server.server.url, server.apiKey, '/approvals');
  const card = page.getByRole('article');
  await card.getByText('Change arguments before approving').click();
  await card.getByLabel('amount').fill('501');
  await card.getByRole('button', { name: 'Approve with changes' }).click();
  await page.getByRole('alert').getByText('must not be above 500').waitFor();
});

test('offers no change that the agent cannot run', async () => {
  const server = await ConsoleServer.create();
  await hold(server, {}, { acceptsChanges: false });
  const { page } = await ConsoleTab.open(server.server.url, server.apiKey, '/approvals');
  await page.getByRole('button', { name: 'Approve' }).waitFor();
  expect(await page.getByText('Change arguments before approving').count()).toBe(0);
});

test('shows the change of another approver, and approves the same', async () => {
  const server = await ConsoleServer.create();
  const id = await hold(server, { requiredApprovers: 2 });
  const { apiKey } = await server.server.admin.keys.create(server.tenant, {
    name: 'first',
    scopes: ['read', 'decide'],
  });
  const body = { decision: 'approve', changedArguments: { amount: 400 } };
  await server.as(apiKey).ok('guardian.pendingActions.decide', { id, body });
  const { page } = await ConsoleTab.open(server.server.url, server.apiKey, '/approvals');
  await page.getByRole('article').getByText('amount: 900 to 400').waitFor();
  await page.getByRole('button', { name: 'Approve with changes' }).click();
  await page.getByRole('status').getByText('refund by billing-agent: approved.').waitFor();
  expect(await heldAction(server, id, 'approved')).toMatchObject({ changedArguments: { amount: 400 } });
});
