import { describe, expect, test } from 'vitest';
import { ConsoleServer } from './console-server.ts';
import { ConsoleTab } from './console-tab.ts';

const approval = { timeoutSeconds: 900, onTimeout: 'deny', requiredApprovers: 2 } as const;

async function keyOf(server: ConsoleServer, name: string): Promise<ConsoleServer> {
  const { apiKey } = await server.server.admin.keys.create(server.tenant, {
    name,
    scopes: ['read', 'decide'],
  });
  return server.as(apiKey);
}

async function hold(server: ConsoleServer, actionId: string, fields: object = {}): Promise<string> {
  const action = { toolName: 'refund', argumentsHash: 'sha256:aa', arguments: { actionId } };
  return (await server.check({ actionId, action, ...fields })).pendingActionId as string;
}

describe('approvals by several people', () => {
  test('shows how many have approved and who, and does not report an approval of two as approved', async () => {
    const server = await ConsoleServer.create();
    await server.policy({ effect: 'require_approval', approval: { ...approval, notRequester: true } });
    await hold(server, 'call-1', { principal: 'ada@example.com' });
    await server.ok('guardian.pendingActions.list');
    const [first, second] = [await keyOf(server, 'first'), await keyOf(server, 'second')];
    const tab = await ConsoleTab.open(server.server.url, first.apiKey, '/approvals');
    const { page } = tab;
    const card = page.getByRole('article');
    await card.getByText('0 of 2 approvals').waitFor();
    await expect.poll(() => card.textContent()).toContain('for ada@example.com');
    await expect.poll(() => card.textContent()).toContain('The requester cannot approve.');
    expect(await tab.accessibilityFaults()).toEqual([]);
    // Nobody knows whether the user of this key is Ada.
    await card.getByRole('button', { name: 'Approve' }).click();
    await page.getByRole('alert').getByText('does not know who uses this key').waitFor();
    await card.getByRole('button', { name: 'Deny' }).click();
    await page.getByText('Nothing is waiting.').waitFor();

    await hold(server, 'call-2');
    await tab.refreshUntil(card);
    await card.getByLabel('Comment').fill('I called them');
    await card.getByRole('button', { name: 'Approve' }).click();
    await page
      .getByRole('status')
      .getByText('refund by billing-agent: your approval counts, and it waits for another approver.')
      .waitFor();
    await card.getByText('1 of 2 approvals').waitFor();
    await card.getByText('“I called them”').waitFor();
    expect(await card.getByRole('button', { name: 'Approve' }).count()).toBe(0);
    expect(await tab.accessibilityFaults()).toEqual([]);

    const other = await ConsoleTab.open(server.server.url, second.apiKey, '/approvals');
    await other.page.getByRole('article').getByRole('button', { name: 'Approve' }).click();
    await other.page.getByRole('status').getByText('refund by billing-agent: approved.').waitFor();
    expect(await server.check({ actionId: 'call-2', action: actionOf('call-2') })).toMatchObject({
      decision: 'allow',
    });
  });

  test('tells the loser of a race in one plain sentence', async () => {
    const server = await ConsoleServer.create();
    await server.policy({ effect: 'require_approval' });
    const id = await hold(server, 'call-1');
    const { page } = await ConsoleTab.open(server.server.url, server.apiKey, '/approvals');
    await page.getByRole('article').waitFor();
    await page.route('**/v1/guardian/pending-actions?*', (route) => route.abort());
    await server.ok('guardian.pendingActions.decide', { id, body: { decision: 'deny' } });
    await page.getByRole('button', { name: 'Approve' }).click();
    const sentence =
      /^refund by billing-agent was already denied by key_\w+; your decision changed nothing\.$/;
    await page.getByRole('status').getByText(sentence).waitFor();
  });

  test('approves later calls of the session, shows the grant, and revokes it', async () => {
    const server = await ConsoleServer.create();
    await server.policy({ effect: 'require_approval' });
    await server.record({ sessionId: 'thread-1' });
    await hold(server, 'call-1');
    const tab = await ConsoleTab.open(server.server.url, server.apiKey, '/approvals');
    const { page } = tab;
    const card = page.getByRole('article');
    await card.getByLabel('An approval is for').selectOption('any call of refund in this session');
    await card.getByLabel('For', { exact: true }).selectOption('15 minutes');
    await card.getByLabel('At most').fill('3');
    expect(await tab.accessibilityFaults()).toEqual([]);
    await card.getByRole('button', { name: 'Approve' }).click();
    await page.getByRole('status').getByText('approved').waitFor();
    expect((await server.check({ action: actionOf('other') })).decision).toBe('allow');
    await page.getByRole('link', { name: 'grants', exact: true }).click();
    const row = page.getByRole('row').filter({ hasText: 'refund' });
    await row.getByText('1 of 3').waitFor();
    await expect.poll(() => row.textContent()).toContain('any call');
    expect(await tab.accessibilityFaults()).toEqual([]);
    await tab.go('/sessions/thread-1');
    await page.getByRole('heading', { name: 'Granted for this session' }).waitFor();
    await row.getByRole('button', { name: 'Revoke' }).click();
    await row.getByRole('button', { name: 'Revoke it?' }).click();
    await page.getByRole('status').getByText('need an approval again').waitFor();
    await row.getByText('revoked').waitFor();
    expect((await server.check({ action: actionOf('other') })).decision).toBe('require_approval');
  });

  test('decides the selected actions by keyboard, and says what happened to each', async () => {
    const server = await ConsoleServer.create();
    await server.policy({ effect: 'require_approval' });
    const ids = [await hold(server, 'call-1'), await hold(server, 'call-2'), await hold(server, 'call-3')];
    const tab = await ConsoleTab.open(server.server.url, server.apiKey, '/approvals');
    const { page } = tab;
    await page.getByRole('article').nth(2).waitFor();
    // The page does not see that the first action was decided elsewhere.
    await page.route('**/v1/guardian/pending-actions?*', (route) => route.abort());
    await server.ok('guardian.pendingActions.decide', { id: String(ids[0]), body: { decision: 'deny' } });
    await page.getByLabel('Select all (3)').focus();
    await page.keyboard.press('Space');
    await page.getByRole('article').getByLabel('Select').nth(1).focus();
    await page.keyboard.press('Space');
    await page.getByRole('button', { name: 'Approve 2 actions' }).waitFor();
    expect(await tab.accessibilityFaults()).toEqual([]);
    await page.getByRole('button', { name: 'Approve 2 actions' }).focus();
    await page.keyboard.press('Enter');
    await page.keyboard.press('Enter');
    await page
      .getByRole('status')
      .getByText(/1 approved\. refund by billing-agent was already denied by key_/)
      .waitFor();
    expect((await server.ok('guardian.pendingActions.list')).items).toMatchObject([{ id: ids[1] }]);
  });

  test('writes a policy that needs two approvers', async () => {
    const server = await ConsoleServer.create();
    const tab = await ConsoleTab.open(server.server.url, server.apiKey, '/policies/new');
    const { page } = tab;
    await page.getByLabel('Name').fill('Two people');
    await page.getByLabel('Effect').selectOption('ask a person');
    await page.getByLabel('Tools').fill('transfer_*');
    await page.getByText('Who approves, for how long').click();
    await page.getByLabel('Approvers').fill('2');
    await page.getByLabel('The requester cannot approve').check();
    await page.getByLabel('Only people of these groups').fill('finance');
    await page.getByLabel('Only people of these groups').press('Enter');
    await page.getByRole('button', { name: 'an argument' }).click();
    await page.getByLabel('Changeable argument').fill('amount');
    await page.getByLabel('Limit of the argument').fill('100 to 500');
    expect(await tab.accessibilityFaults()).toEqual([]);
    await page.getByRole('button', { name: 'Create' }).click();
    await page.getByRole('button', { name: 'Save' }).waitFor();
    const [policy] = (await server.ok('policies.list')).items;
    expect(policy?.approval).toEqual({
      timeoutSeconds: 900,
      onTimeout: 'deny',
      requiredApprovers: 2,
      notRequester: true,
      approverGroups: ['finance'],
      editable: [{ path: 'amount', max: 500, min: 100 }],
    });
    await page.getByLabel('Approvers').fill('1');
    await page.getByRole('button', { name: 'Save' }).click();
    await expect
      .poll(async () => (await server.ok('policies.list')).items[0]?.approval?.requiredApprovers)
      .toBe(1);
  });
});

function actionOf(actionId: string) {
  return { toolName: 'refund', argumentsHash: 'sha256:aa', arguments: { actionId } };
}
