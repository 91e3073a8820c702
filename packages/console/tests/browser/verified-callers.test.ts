import { startServer } from '@actlog/server';
import { expect, test } from 'vitest';
import { audience, startTestIssuer } from '../../../identity/tests/test-issuer.ts';
import { atTestEnd } from '../../../server/tests/test-end.ts';
import { activityEvent, TestServer } from '../../../server/tests/test-server.ts';
import { ConsoleTab } from './console-tab.ts';

test('marks verified agents and principals, with issuer and subject', async () => {
  const issuer = await startTestIssuer();
  atTestEnd(() => issuer.close());
  const agents = { 'spiffe://acme.example/agent/*': '$1' };
  const running = await startServer({
    docs: false,
    identityIssuers: [{ issuer: issuer.url, audience, agents, principalClaim: 'email' }],
  });
  atTestEnd(() => running.close());
  const server = new TestServer(running, running.apiKey);
  await server.policy({ effect: 'require_approval' });
  const sub = 'spiffe://acme.example/agent/billing';
  const headers = { 'x-actlog-identity': await issuer.token({ sub, email: 'ada@example.com' }) };
  await server.check({ agentId: 'billing', parentAgentIds: ['triage'], subagent: 'refunds' }, headers);
  await server.check({ agentId: 'claimed', principal: 'bob@example.com' });
  await server.ok('events.create', { body: activityEvent({ agentId: 'billing' }), headers });

  const tab = await ConsoleTab.open(running.url, running.apiKey, '/approvals');
  const card = tab.page.getByRole('article').filter({ hasText: 'billing' });
  await card.getByText('Verified by a token').waitFor();
  await expect.poll(() => card.locator('.badge', { hasText: 'verified' }).count()).toBe(2);
  await expect.poll(() => card.textContent()).toContain(sub);
  await expect.poll(() => card.textContent()).toContain(issuer.url);
  const claimed = tab.page.getByRole('article').filter({ hasText: 'claimed' });
  expect(await claimed.locator('.badge', { hasText: 'verified' }).count()).toBe(0);
  expect(await tab.accessibilityFaults()).toEqual([]);

  await tab.visit(running.url, running.apiKey, '/decisions');
  await tab.page.getByText('claimed').first().waitFor();
  await expect.poll(() => tab.page.locator('.badge', { hasText: 'verified' }).count()).toBe(1);
  await tab.visit(running.url, running.apiKey, '/sessions/thread-1');
  await tab.page.locator('.badge', { hasText: 'verified' }).first().waitFor();
});

test('leads from a call to its trace, where the deployment names a tracer', async () => {
  const traceUrl = 'https://jaeger.example.com/trace/{traceId}?uiFind={spanId}';
  const running = await startServer({ docs: false, traceUrl });
  atTestEnd(() => running.close());
  const server = new TestServer(running, running.apiKey);
  await server.policy({ effect: 'require_approval' });
  const [traceId, spanId] = ['4bf92f3577b34da6a3ce929d0e0e4736', '00f067aa0ba902b7'];
  const headers = { 'x-actlog-traceparent': `00-${traceId}-${spanId}-01` };
  await server.check({ agentId: 'billing' }, headers);
  await server.ok('events.create', { body: activityEvent({ agentId: 'billing' }), headers });
  const address = `https://jaeger.example.com/trace/${traceId}?uiFind=${spanId}`;

  const tab = await ConsoleTab.open(running.url, running.apiKey, '/approvals');
  const link = tab.page.getByRole('link', { name: traceId });
  await expect.poll(() => link.getAttribute('href')).toBe(address);
  await expect.poll(() => link.getAttribute('rel')).toBe('noreferrer');
  expect(await tab.accessibilityFaults()).toEqual([]);
  await tab.visit(running.url, running.apiKey, '/decisions');
  await expect
    .poll(() => tab.page.getByRole('link', { name: 'Trace', exact: true }).getAttribute('href'))
    .toBe(address);
  await tab.visit(running.url, running.apiKey, '/sessions/thread-1');
  const call = tab.page.locator('tbody').filter({ has: tab.page.locator('.badge', { hasText: '200' }) });
  await call.getByRole('button', { name: 'refund' }).click();
  const details = tab.page.locator('.event-details');
  await expect.poll(() => details.getByRole('link', { name: traceId }).getAttribute('href')).toBe(address);
});
