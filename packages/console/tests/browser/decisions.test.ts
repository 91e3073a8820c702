import { describe, expect, test } from 'vitest';

import { ConsoleServer } from './console-server.ts';
import { ConsoleTab } from './console-tab.ts';

/** Returns a server with a policy, and with checks of three tools. */
async function checkedServer(): Promise<ConsoleServer> {
  const server = await ConsoleServer.create();
  await server.policy({ name: 'No deletions', match: { tools: ['delete_user'] } });
  for (const toolName of ['read_page', 'refund', 'refund', 'delete_user']) {
    await server.check({
      agentId: 'billing',
      sessionId: 'order-1',
      action: { toolName, argumentsHash: 'sha256:aa' },
    });
  }
  await server.check(
    { agentId: 'mailer', action: { toolName: 'refund', argumentsHash: 'sha256:aa' } },
    {
      prefer: 'dry-run',
    },
  );
  return server;
}

describe('decisions page', () => {
  test('lists decisions, links to their policy and session, and filters by the address', async () => {
    const server = await checkedServer();
    const tab = await ConsoleTab.open(server.server.url, server.apiKey, '/decisions');
    const { page } = tab;
    await tab.heading('Decisions');
    const row = (tool: string) => page.getByRole('row').filter({ hasText: tool });
    await row('delete_user').getByText('deny').waitFor();
    await expect.poll(() => page.getByRole('row').count()).toBe(6);
    await expect.poll(() => row('read_page').textContent()).toContain('no policy');
    await expect.poll(() => page.getByText('dry run').count()).toBe(1);
    await page.getByLabel('Decision', { exact: true }).selectOption('deny');
    await page.getByRole('button', { name: 'Filter' }).click();
    await expect.poll(() => page.getByRole('row').count()).toBe(2);
    await row('delete_user').locator('[title^=pol_]').waitFor();
    await row('delete_user').getByRole('link', { name: 'No deletions' }).click();
    await tab.heading('No deletions');
    await page.goBack();
    await row('delete_user').getByRole('link', { name: 'order-1' }).waitFor();
    await page.getByLabel('Agent').fill('nobody');
    await page.getByRole('button', { name: 'Filter' }).click();
    await page.getByText('No decision matches.').waitFor();
    expect(await tab.accessibilityFaults()).toEqual([]);
  });

  test('shows a held call once, with its policy, its outcome and its approver', async () => {
    const server = await ConsoleServer.create();
    await server.policy({ name: 'Large refunds', effect: 'require_approval' });
    const held = await server.check({ actionId: 'a-1' });
    const tab = await ConsoleTab.open(server.server.url, server.apiKey, '/decisions');
    const { page } = tab;
    const row = page.getByRole('row').filter({ hasText: 'refund' });
    await row.getByText('waits for approval').waitFor();
    await row.getByRole('link', { name: 'Large refunds' }).waitFor();
    await server.ok('guardian.pendingActions.decide', {
      id: held.pendingActionId as string,
      body: { decision: 'approve' },
    });
    await server.check({ actionId: 'a-1' });
    await row.getByText('held, approved').waitFor();
    await expect.poll(() => row.count()).toBe(1);
    await expect.poll(() => row.textContent()).toMatch(/allow.*key_\w+, held by Large refunds/);
    await page.goto(`${server.server.url}/console/#/`);
    await tab.heading('Overview');
    await page.getByText('Calls, decisions, all risky sessions and webhooks').click();
    const figure = page.getByRole('figure').filter({ hasText: 'Decisions of policies' });
    await figure.getByRole('link', { name: /Allowed/ }).waitFor();
    await expect.poll(() => figure.textContent()).toMatch(/Allowed\D*1/);
    await expect.poll(() => figure.textContent()).toMatch(/Waiting\D*0/);
  });

  test('tries a draft on the past before it is saved', async () => {
    const server = await checkedServer();
    const tab = await ConsoleTab.open(server.server.url, server.apiKey, '/policies/new');
    const { page } = tab;
    await page.getByLabel('Name', { exact: true }).fill('Refunds');
    await page.getByLabel('Tools', { exact: true }).fill('refund');
    await page.getByRole('button', { name: 'Try on the last 30 days' }).click();
    await page
      .getByText('As if it were enforced. Of 5 decisions in the last 30 days, 3 would have been different.')
      .waitFor();
    const changed = page.getByRole('row').filter({ hasText: 'billing' });
    await expect.poll(() => changed.textContent()).toContain('2');
    expect((await server.ok('policies.list')).items).toHaveLength(1);
    await page.getByRole('button', { name: 'Write the condition in CEL' }).click();
    await page.getByLabel('Condition').fill('args.amount > 100');
    await page.getByRole('button', { name: 'Try on the last 30 days' }).click();
    await page.getByText('For 3 it cannot be told').waitFor();
    await page.getByLabel('Condition').fill('args.');
    await page.getByRole('button', { name: 'Try on the last 30 days' }).click();
    await page.getByRole('alert').waitFor();
    await expect.poll(() => page.getByLabel('Condition').getAttribute('aria-invalid')).toBe('true');
    expect(await tab.accessibilityFaults()).toEqual([]);
  });

  test('tries a change of a policy instead of the stored one', async () => {
    const server = await checkedServer();
    const [stored] = (await server.ok('policies.list')).items;
    const { page } = await ConsoleTab.open(server.server.url, server.apiKey, `/policies/${stored?.id}`);
    await page.getByLabel('Name', { exact: true }).fill('Another name');
    await page.getByLabel('Mode').selectOption('log_only');
    await page.getByRole('button', { name: 'Try on the last 30 days' }).click();
    await page.getByText('Of 5 decisions in the last 30 days, 1 would have been different.').waitFor();
  });
});
