import { describe, expect, test } from 'vitest';

import { ConsoleServer } from './console-server.ts';
import { ConsoleTab } from './console-tab.ts';

describe('agents and webhooks pages', () => {
  test('shows the risk of an agent by day, and of seven days in the list', async () => {
    const server = await ConsoleServer.create();
    const tools = ['fetch_web_page', 'read_secrets', 'list_customers', 'delete_audit_log', 'send_email'];
    await server.record(
      ...tools.map((toolName, index) => ({
        sessionId: 'odd',
        agentId: 'mailer',
        sourceTimestamp: new Date(Date.now() - 10_000 + index * 1000).toISOString(),
        payload: { toolName, argumentsHash: 'sha256:aa', responseStatus: 200 },
      })),
    );
    const { score } = await server.ok('sessions.risk', { id: 'odd' });
    const tab = await ConsoleTab.open(server.server.url, server.apiKey, '/agents');
    const { page } = tab;
    const whole = String(Math.floor(score));
    await tab.refreshUntil(page.getByRole('link', { name: new RegExp(`^${whole} `) }));
    await page.getByLabel('Order').selectOption('riskiest first');
    expect(await tab.accessibilityFaults()).toEqual([]);
    await page.getByRole('link', { name: 'mailer' }).click();
    const days = page.getByRole('region', { name: 'Risk by day (UTC)' });
    await days.getByRole('link', { name: new RegExp(`highest score ${whole}$`) }).click();
    await tab.heading('Sessions');
    await page.getByRole('link', { name: 'odd' }).waitFor();
    expect(page.url()).toContain('order=risk');
  });

  test('registers an agent that was only seen, revokes and reinstates it', async () => {
    const server = await ConsoleServer.create();
    await server.record({});
    const { page } = await ConsoleTab.open(server.server.url, server.apiKey, '/agents');
    await page.getByText('not registered').waitFor();
    await page.getByText('A revoked agent is denied every action that its guard asks about').waitFor();
    await page.getByRole('button', { name: 'Register' }).click();
    await page.getByRole('button', { name: 'Revoke' }).click();
    await page.getByRole('button', { name: 'Revoke billing-agent' }).click();
    await page.getByRole('button', { name: 'Reinstate' }).waitFor();
    expect(await server.ok('agents.get', { id: 'billing-agent' })).toMatchObject({ status: 'revoked' });
    expect(await server.check()).toMatchObject({ decision: 'deny', decidedBy: 'agent_revoked' });
    await page.getByRole('button', { name: 'Reinstate' }).click();
    await page.getByRole('button', { name: 'Revoke' }).waitFor();
    await page.getByRole('link', { name: 'billing-agent' }).click();
    await page.getByRole('link', { name: 'thread-1' }).first().waitFor();
  });

  test('shows what an agent does, stops it, and leads to its tools and their calls', async () => {
    const server = await ConsoleServer.create();
    const call = (agentId: string, toolName: string, responseStatus: number) => ({
      agentId,
      sessionId: `s-${agentId}`,
      payload: { toolName, argumentsHash: 'sha256:aa', responseStatus },
    });
    await server.record(
      call('billing', 'refund', 200),
      call('billing', 'refund', 500),
      call('billing', 'drop table;\u202e', 403),
      call('mailer', 'refund', 200),
    );
    await server.policy({ name: 'Nothing else', priority: -1000, match: { agents: ['billing'] } });
    const tab = await ConsoleTab.open(server.server.url, server.apiKey, '/agents?id=bill&order=calls');
    const { page } = tab;
    await page.getByRole('link', { name: 'billing', exact: true }).click();
    await tab.heading('billing');
    const panel = (name: string) => page.getByRole('region', { name, exact: true });
    await panel('Policies that apply').getByRole('link', { name: 'Nothing else' }).waitFor();
    await panel('Policies that apply').getByText('fallback').waitFor();
    await panel('Recent denials').getByRole('link', { name: 'drop table;\\u202e' }).waitFor();
    await panel('Keys').getByText('any agent').waitFor();
    expect(await tab.accessibilityFaults()).toEqual([]);
    await page.getByRole('button', { name: 'Register' }).click();
    await page.getByRole('button', { name: 'Revoke' }).click();
    await page.getByRole('button', { name: 'Revoke billing' }).click();
    await page.getByRole('button', { name: 'Reinstate' }).waitFor();
    await panel('Usual tools').getByRole('link', { name: 'refund' }).click();
    await tab.heading('refund');
    await expect.poll(() => panel('Agents that call it').locator('tbody tr').count()).toBe(2);
    await page.getByRole('link', { name: /^Failed/ }).click();
    await tab.heading('Events');
    await expect.poll(() => page.locator('tbody tr').count()).toBe(1);
    await tab.go('/tools?order=failed');
    await page.getByRole('link', { name: 'refund' }).waitFor();
    await tab.go('/tools?name=none');
    await page.getByText('No tool matches.').waitFor();
  });

  test('creates a webhook, and shows its secret once', async () => {
    const server = await ConsoleServer.create();
    const { page } = await ConsoleTab.open(server.server.url, server.apiKey, '/webhooks');
    await page.getByLabel('Address').fill('http://127.0.0.1:9/hook');
    await page.getByLabel('An action waits for approval').check();
    await page.getByRole('button', { name: 'Create' }).click();
    await expect.poll(() => page.getByLabel('Signing secret').textContent()).toMatch(/whsec_/);
    expect((await server.ok('notificationChannels.list')).items).toMatchObject([
      { url: 'http://127.0.0.1:9/hook', events: ['guardian.action_pending'] },
    ]);
    await page.getByRole('button', { name: 'I have it' }).click();
    await page.getByLabel('Signing secret').waitFor({ state: 'detached' });
    expect(await page.content()).not.toContain('whsec_');
  });

  test('explains why a webhook address is invalid', async () => {
    const server = await ConsoleServer.create();
    const { page } = await ConsoleTab.open(server.server.url, server.apiKey, '/webhooks');
    await page.getByLabel('Address').fill('http://10.0.0.1:9/hook');
    await page.getByRole('button', { name: 'Create' }).click();
    await expect.poll(() => page.getByRole('alert').textContent()).toContain('url');
    expect((await server.ok('notificationChannels.list')).items).toEqual([]);
  });

  test('offers no change to a read-only key', async () => {
    const { server } = await ConsoleServer.create();
    const { apiKey } = await server.admin.keys.create(server.tenant, { name: 'reader', scopes: ['read'] });
    const tab = await ConsoleTab.open(server.url, apiKey);
    for (const [place, heading] of [
      ['/policies', 'Policies'],
      ['/agents', 'Agents'],
      ['/webhooks', 'Webhooks'],
    ] as const) {
      await tab.go(place);
      await tab.heading(heading);
      expect(await tab.page.locator('main button:not(.filters *, .list-tools *)').count()).toBe(0);
    }
  });

  test('offers no copy button where the browser has no clipboard, as over plain HTTP', async () => {
    const server = await ConsoleServer.create();
    const tab = await ConsoleTab.blank(server.server.url);
    await tab.page.addInitScript(() => {
      Object.defineProperty(navigator, 'clipboard', { value: undefined });
    });
    await tab.page.goto(`${server.server.url}/console/#key=${server.apiKey}`);
    await tab.heading('Overview');
    await tab.go('/keys');
    await tab.page.getByLabel('Name', { exact: true }).fill('new');
    await tab.page.getByRole('button', { name: 'Create' }).click();
    await tab.page.getByRole('button', { name: 'I have it' }).waitFor();
    expect(await tab.page.getByRole('button', { name: 'Copy' }).count()).toBe(0);
  });
});
