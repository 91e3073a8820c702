import { beforeEach, expect, test } from 'vitest';
import { readQuotaUsage } from '../src/administration/tenants.ts';
import { deleteExpiredData } from '../src/background/background-tasks.ts';
import { openStorage } from '../src/open-storage.ts';
import { listAuditEntries } from '../src/storage/stores/audit-store.ts';
import { operator, recordUnlimited } from '../src/tenants/audit-log.ts';
import { ensureTenant } from '../src/tenants/provisioning.ts';
import { auditEntries, sendTo, sentTo } from './audit-entries.ts';
import { withTestDatabase } from './test-database.ts';
import { atTestEnd } from './test-end.ts';
import { readError, type TestServer, testServer } from './test-server.ts';
import { WebhookReceiver } from './webhook-receiver.ts';

let server: TestServer;

beforeEach(async () => {
  server = await testServer({
    principalHeader: 'x-forwarded-user',
    trustedProxies: ['127.0.0.0/8'],
    webhookAllowedRanges: ['127.0.0.0/8'],
  });
});

test('keeps the fields of a policy that differ, with their values before and after', async () => {
  const { id } = await server.policy({ name: 'refunds', condition: 'args.amount > 10.0' });
  await server.ok('policies.update', {
    id,
    body: { condition: 'args.amount > 100.0', message: 'Ask a person.' },
    headers: { 'x-forwarded-user': 'ann@example.com' },
  });
  const [updated, created] = await auditEntries(server, `&target=${id}`);
  expect(updated).toMatchObject({
    action: 'policy.updated',
    actor: { kind: 'key', name: 'startServer', principal: 'ann@example.com' },
    target: { kind: 'policy', id, name: 'refunds' },
    changes: [
      { field: 'condition', before: 'args.amount > 10.0', after: 'args.amount > 100.0' },
      { field: 'message', before: null, after: 'Ask a person.' },
      { field: 'version', before: 1, after: 2 },
      { field: 'definitionSha256' },
    ],
  });
  expect(created?.changes).toContainEqual({ field: 'effect', before: null, after: 'deny' });
  expect(created?.changes).not.toContainEqual(expect.objectContaining({ field: 'rate' }));
});

test('keeps neither values that callers may fill freely nor those that are too long', async () => {
  const { id } = await server.ok('agents.create', { body: { name: 'Bot' } });
  await server.ok('agents.update', { id, body: { metadata: { note: 's3cret' } } });
  const { id: policyId } = await server.policy();
  await server.ok('policies.update', {
    id: policyId,
    body: { match: { tools: Array.from({ length: 100 }, (_, index) => `tool-with-a-long-name-${index}`) } },
  });
  const [long, free] = await auditEntries(server, '');
  expect(long?.changes).toContainEqual({ field: 'match' });
  expect(JSON.stringify(long)).not.toContain('tool-with-a-long-name');
  const [ofAgent] = await auditEntries(server, `&target=${id}`);
  expect(ofAgent?.changes).toEqual([{ field: 'metadata' }]);
  expect(free).toBeDefined();
});

test('keeps no arguments, no hash, no comment and no secret', async () => {
  await server.policy({ effect: 'require_approval' });
  const action = { toolName: 'refund', argumentsHash: 'sha256:facade', arguments: { card: '4111' } };
  const { pendingActionId } = await server.check({ actionId: 'a', action });
  await server.ok('guardian.pendingActions.decide', {
    id: pendingActionId as string,
    body: { decision: 'approve', comment: 'for card 4111' },
  });
  const body = { url: 'https://example.com/hook?token=t0ken#t0ken' };
  const { secret, id } = await server.ok('notificationChannels.create', { body });
  const rotated = await sentTo<{ secret: string }>(server, 'POST', `/server/v1/webhooks/${id}/rotate-secret`);
  const { apiKey } = await sentTo<{ apiKey: string }>(server, 'POST', '/console/api/keys', { name: 'n' });
  const text = JSON.stringify(await auditEntries(server));
  expect(text).toContain('https://example.com/hook"');
  expect(text).toContain('"held_action.approved"');
  for (const kept of ['facade', '4111', 't0ken', secret, rotated.secret, apiKey]) {
    expect(text).not.toContain(kept);
  }
});

test('filters by actor, action, kind and target, and pages without a gap', async () => {
  const { apiKey, key } = await server.server.admin.keys.create('default', { name: 'other' });
  const other = server.as(apiKey);
  const { id } = await server.policy();
  for (let index = 0; index < 5; index += 1) {
    await (index % 2 ? server : other).ok('policies.update', { id, body: { priority: index + 1 } });
  }
  expect(await auditEntries(server, `&actor=key_${key.id}`)).toHaveLength(3);
  expect(await auditEntries(server, '&action=policy.updated')).toHaveLength(5);
  expect(await auditEntries(server, '&targetKind=key')).toMatchObject([
    { action: 'key.created', actor: { kind: 'operator', id: null }, target: { name: 'other' } },
  ]);
  const all = await auditEntries(server);
  const pages = [];
  let cursor: string | null = '';
  while (cursor !== null) {
    const query: string = `?limit=3${cursor && `&cursor=${cursor}`}`;
    const page: { items: object[]; nextCursor: string | null } = await sentTo(
      server,
      'GET',
      `/server/v1/audit${query}`,
    );
    pages.push(...page.items);
    cursor = page.nextCursor;
  }
  expect(pages).toEqual(all);
  const future = new Date(Date.now() + 60_000).toISOString();
  expect(await auditEntries(server, `&since=${future}`)).toEqual([]);
  expect(await auditEntries(server, `&until=${future}`)).toHaveLength(all.length);
  const error = await readError(await sendTo(server, 'GET', '/server/v1/audit?action=policy.read'));
  expect(error).toMatchObject({ status: 400, details: [{ path: 'query.action' }] });
});

test('is readable only with every scope', async () => {
  for (const scopes of [['read'], ['ingest', 'read', 'manage']] as const) {
    const { apiKey } = await server.server.admin.keys.create('default', { name: 'n', scopes });
    const error = await readError(await sendTo(server.as(apiKey), 'GET', '/server/v1/audit'));
    expect(error).toMatchObject({ status: 403, code: 'PERMISSION_DENIED' });
  }
});

test('shows nothing of another tenant', async () => {
  await server.server.admin.tenants.create('rival');
  const { apiKey } = await server.server.admin.keys.create('rival', { name: 'rival' });
  await server.policy();
  expect(await auditEntries(server.as(apiKey))).toMatchObject([{ action: 'key.created' }]);
});

test('records a repeated request with an Idempotency-Key once', async () => {
  const request = { body: { name: 'p', effect: 'deny' }, headers: { 'idempotency-key': 'k' } };
  await server.ok('policies.create', request);
  await server.ok('policies.create', request);
  expect(await auditEntries(server)).toHaveLength(1);
});

test('refuses changes when the log is full, except those that take a permission away', async () => {
  const { id } = await server.ok('agents.create', { body: { name: 'Bot' } });
  const { key } = await server.server.admin.keys.create('default', { name: 'leaked' });
  const { admin } = server.server;
  await admin.tenants.setQuota('default', { auditEntries: 3 });
  const refused = await server.refused('policies.create', { body: { name: 'p', effect: 'deny' } });
  expect(refused).toMatchObject({ status: 429, code: 'RATE_LIMITED' });
  expect(refused.message).toContain('auditEntries');
  expect((await server.ok('policies.list')).items).toEqual([]);
  await sentTo(server, 'POST', `/console/api/keys/${key.id}/revoke`);
  await server.ok('agents.update', { id, body: { status: 'revoked' } });
  expect(await auditEntries(server)).toMatchObject([
    { action: 'agent.revoked' },
    { action: 'key.revoked' },
    { action: 'tenant.quotas_changed', changes: [{ field: 'auditEntries', after: 3 }] },
    { action: 'key.created' },
    { action: 'agent.registered' },
  ]);
  expect((await admin.tenants.quota('default')).auditEntries).toEqual({ used: 5, max: 3 });
});

test('names the server when it disables a webhook by itself', async () => {
  const receiver = new WebhookReceiver();
  atTestEnd(() => receiver.close());
  receiver.responses.push({ status: 410 });
  const { id } = await server.ok('notificationChannels.create', { body: { url: await receiver.listen() } });
  await sentTo(server, 'POST', `/server/v1/webhooks/${id}/test`);
  await expect
    .poll(() => auditEntries(server, '&action=webhook.disabled'))
    .toMatchObject([{ actor: { kind: 'server', id: null, name: null }, target: { id } }]);
});

test('records what the operator changes with the command', async () => {
  const { admin } = server.server;
  await admin.tenants.setRetention('default', { sessions: 30 });
  await admin.tenants.setRetention('default', { audit: null });
  await admin.toolTags.set('default', { search: ['exec'] });
  await server.record({ sessionId: 's' });
  await admin.sessions.delete('default', 's');
  const entries = await auditEntries(server);
  expect(entries.every(({ actor }) => actor.kind === 'operator')).toBe(true);
  expect(entries).toMatchObject([
    { action: 'session.deleted', target: { id: 's' } },
    { action: 'tenant.tool_tags_changed', changes: [{ field: 'search', after: ['exec'] }] },
    { action: 'tenant.retention_changed', changes: [{ field: 'auditDays', before: 365, after: null }] },
    // The first entry has the whole retention in force.
    {
      action: 'tenant.retention_changed',
      changes: expect.arrayContaining([
        { field: 'sessionsDays', before: null, after: 30 },
        { field: 'decisionsDays', before: null, after: 183 },
        { field: 'decisionsFloorDays', before: null, after: 183 },
      ]),
    },
  ]);
});

test('deletes entries that are past their own retention', async () => {
  const { database = ':memory:' } = await withTestDatabase({});
  const storage = await openStorage({ database, connections: 2 });
  atTestEnd(() => storage.close());
  const tenantId = await storage.writeAcross('administer', ({ db }) => ensureTenant(db, 'one'));
  const change = { action: 'policy.created', target: { id: 'p', name: null }, changes: [] } as const;
  await storage.write(tenantId, ({ db }) => recordUnlimited(db, tenantId, operator, change));
  const left = async (days: number) => {
    await deleteExpiredData(storage, Date.now() + days * 24 * 3_600_000);
    return storage.read(tenantId, async (db) => {
      const { rows } = await listAuditEntries(db, { tenantId, filters: {}, limit: 10 });
      const { auditEntries: quota } = await readQuotaUsage(db, tenantId, {}, Date.now());
      return [rows.length, quota.used];
    });
  };
  expect(await left(364)).toEqual([1, 1]);
  expect(await left(366)).toEqual([0, 0]);
});
