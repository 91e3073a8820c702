import { type AuditAction, type ErrorEnvelope, endpoints } from '@actlog/protocol';
import { fastify } from 'fastify';
import { afterEach, expect, test, vi } from 'vitest';
import { assemble } from '../src/assemble.ts';
import { configured } from '../src/configuration.ts';
import { ServerLog } from '../src/evidence/server-log.ts';
import { TenantTurns } from '../src/lib/tenant-turns.ts';
import { Metrics } from '../src/observability/metrics.ts';
import { openStorage } from '../src/open-storage.ts';
import { storedEvents } from '../src/storage/event-reader.ts';
import { deploymentSecret } from '../src/tenants/deployment-secret.ts';
import { auditEntries, sendTo, sentTo } from './audit-entries.ts';
import { atTestEnd } from './test-end.ts';
import { type TestServer, testServer } from './test-server.ts';

afterEach(() => {
  vi.useRealTimers();
});

/** A change through a route: its entry in the audit log, and the request, after what it needs. */
interface Example {
  readonly action: AuditAction;
  readonly prepare?: (server: TestServer) => Promise<string>;
  readonly body?: unknown;
  /** `true` if the same request changes nothing when it is repeated. */
  readonly isIdempotent?: true;
}

const webhook = async (server: TestServer) =>
  (await server.ok('notificationChannels.create', { body: { url: 'http://127.0.0.1:9/hook?token=t0p' } })).id;

const key = async (server: TestServer) =>
  (await server.server.admin.keys.create(server.tenant, { name: 'k' })).key.id;

const teams = { kind: 'teams', name: 'Ops', settings: { url: 'http://127.0.0.1:9/workflow?sig=t0p' } };

const channel = async (server: TestServer) =>
  (await sentTo<{ id: string }>(server, 'POST', '/server/v1/channels', teams)).id;

const alertRule = async (server: TestServer) => {
  const body = { name: 'Denials', kind: 'denied' };
  return (await sentTo<{ id: string }>(server, 'POST', '/server/v1/alert-rules', body)).id;
};

const delivery = async (server: TestServer) =>
  (await sentTo<{ id: string }>(server, 'POST', `/server/v1/webhooks/${await webhook(server)}/test`)).id;

const heldAction = async (server: TestServer) => {
  await server.policy({ effect: 'require_approval' });
  const { pendingActionId } = await server.check({ actionId: 'a' });
  return pendingActionId as string;
};

const grant = async (server: TestServer) => {
  const id = await heldAction(server);
  const body = { decision: 'approve', grant: { for: 'tool', durationSeconds: 600 } };
  return (await server.ok('guardian.pendingActions.decide', { id, body })).grantId as string;
};

const endedSession = async (server: TestServer) => {
  vi.useFakeTimers({ toFake: ['Date'], now: Date.now() - 3_600_000 });
  await server.record({ sessionId: 'ended' });
  vi.useRealTimers();
  await server.ok('sessions.risk', { id: 'ended' });
  return 'ended';
};

const judgment = async (server: TestServer) => {
  const body = { kind: 'expected', scope: { ruleId: 'goal.detour', agentId: 'bot' }, reason: 'the usual' };
  const saved = await sentTo<{ judgment: { id: string } }>(server, 'POST', '/server/v1/judgments', body);
  return saved.judgment.id;
};

const handledSession = async (server: TestServer) => {
  const id = await endedSession(server);
  await sentTo(server, 'POST', `/server/v1/sessions/${id}/handle`, { reason: 'a test' });
  return id;
};

const v1 = (name: keyof typeof endpoints) => `${endpoints[name].method} ${endpoints[name].path}`;

/** Every route that changes something for which an operator would ask who did it. */
const changes: Readonly<Record<string, Example>> = {
  [v1('agents.create')]: { action: 'agent.registered', body: { id: 'bot', name: 'Bot' } },
  [v1('agents.update')]: {
    action: 'agent.revoked',
    prepare: async (server) => (await server.ok('agents.create', { body: { name: 'Bot' } })).id,
    body: { status: 'revoked' },
    isIdempotent: true,
  },
  [v1('policies.create')]: { action: 'policy.created', body: { name: 'p', effect: 'deny' } },
  [v1('policies.update')]: {
    action: 'policy.updated',
    prepare: async (server) => (await server.policy()).id,
    body: { name: 'renamed' },
  },
  [v1('policies.archive')]: {
    action: 'policy.archived',
    prepare: async (server) => (await server.policy()).id,
    isIdempotent: true,
  },
  [v1('guardian.pendingActions.decide')]: {
    action: 'held_action.denied',
    prepare: heldAction,
    body: { decision: 'deny', comment: 'no' },
    isIdempotent: true,
  },
  [v1('notificationChannels.create')]: {
    action: 'webhook.created',
    body: { url: 'http://127.0.0.1:9/hook?token=t0p' },
  },
  'POST /server/v1/pending-actions/decide': {
    action: 'held_action.approved',
    prepare: heldAction,
    body: { decisions: [{ id: ':id', decision: 'approve' }] },
    isIdempotent: true,
  },
  'POST /server/v1/pending-actions/:id/withdraw': {
    action: 'held_action.withdrawn',
    prepare: async (server) =>
      (await server.check({ actionId: 'prompted', holdSeconds: 60 })).pendingActionId as string,
    isIdempotent: true,
  },
  'DELETE /server/v1/grants/:id': { action: 'grant.revoked', prepare: grant, isIdempotent: true },
  'POST /server/v1/webhooks/:id/disable': {
    action: 'webhook.disabled',
    prepare: webhook,
    isIdempotent: true,
  },
  'POST /server/v1/webhooks/:id/enable': {
    action: 'webhook.enabled',
    prepare: async (server) => {
      const id = await webhook(server);
      await sentTo(server, 'POST', `/server/v1/webhooks/${id}/disable`);
      return id;
    },
    isIdempotent: true,
  },
  'POST /server/v1/webhooks/:id/rotate-secret': { action: 'webhook.secret_rotated', prepare: webhook },
  'POST /server/v1/webhooks/:id/test': { action: 'webhook.tested', prepare: webhook },
  'POST /server/v1/deliveries/:id/resend': { action: 'webhook.message_resent', prepare: delivery },
  'DELETE /server/v1/webhooks/:id': { action: 'webhook.deleted', prepare: webhook },
  'POST /server/v1/webhooks/:id/risk-level': {
    action: 'webhook.risk_level_changed',
    prepare: webhook,
    body: { riskLevel: 'medium' },
    isIdempotent: true,
  },
  'POST /server/v1/channels': { action: 'channel.created', body: teams },
  'POST /server/v1/channels/:id/rules': {
    action: 'channel.updated',
    prepare: channel,
    body: { afterMinutes: 5 },
  },
  'POST /server/v1/channels/:id/mute': { action: 'channel.muted', prepare: channel, body: { minutes: 5 } },
  'POST /server/v1/channels/:id/test': { action: 'channel.tested', prepare: channel },
  'POST /server/v1/channels/:id/disable': {
    action: 'channel.disabled',
    prepare: channel,
    isIdempotent: true,
  },
  'POST /server/v1/channels/:id/enable': {
    action: 'channel.enabled',
    prepare: async (server) => {
      const id = await channel(server);
      await sentTo(server, 'POST', `/server/v1/channels/${id}/disable`);
      return id;
    },
    isIdempotent: true,
  },
  'DELETE /server/v1/channels/:id': { action: 'channel.deleted', prepare: channel },
  'POST /server/v1/alert-rules': {
    action: 'alert_rule.created',
    body: { name: 'Denials', kind: 'denied', count: 5 },
  },
  'POST /server/v1/alert-rules/:id/mute': {
    action: 'alert_rule.muted',
    prepare: alertRule,
    body: { minutes: 5 },
  },
  'DELETE /server/v1/alert-rules/:id': { action: 'alert_rule.deleted', prepare: alertRule },
  'POST /server/v1/legal-holds': {
    action: 'legal_hold.created',
    body: { name: 'Case 7', agentId: 'billing' },
  },
  'POST /server/v1/legal-holds/:id/release': {
    action: 'legal_hold.released',
    prepare: async (server) => {
      const hold = await sentTo<{ id: string }>(server, 'POST', '/server/v1/legal-holds', { name: 'Case 7' });
      return hold.id;
    },
    isIdempotent: true,
  },
  'POST /server/v1/judgments': {
    action: 'judgment.created',
    body: { kind: 'attack', scope: { toolName: 'send_email' }, reason: 'an incident' },
  },
  'POST /server/v1/judgments/:id/end': {
    action: 'judgment.ended',
    prepare: judgment,
    isIdempotent: true,
  },
  'POST /server/v1/sessions/:id/handle': {
    action: 'session.handled',
    prepare: endedSession,
    body: { reason: 'talked to the team' },
    isIdempotent: true,
  },
  'POST /server/v1/sessions/:id/reopen': {
    action: 'session.reopened',
    prepare: handledSession,
    isIdempotent: true,
  },
  'POST /server/v1/sessions/:id/comments': {
    action: 'session.commented',
    prepare: endedSession,
    body: { text: 'asked the team' },
  },
  'POST /server/v1/sessions/:id/assign': {
    action: 'session.assigned',
    prepare: endedSession,
    body: { assignee: 'grace' },
    isIdempotent: true,
  },
  'POST /console/api/sessions/:id/learn': { action: 'session.confirmed', prepare: endedSession },
  'POST /console/api/keys': { action: 'key.created', body: { name: 'n' } },
  'POST /console/api/keys/:id/rotate': { action: 'key.rotated', prepare: key },
  'POST /console/api/keys/:id/revoke': { action: 'key.revoked', prepare: key, isIdempotent: true },
};

/** Routes that change nothing an operator would ask about, with the reason. */
const unaudited: Readonly<Record<string, string>> = {
  [v1('events.create')]: 'Agents record what they do; the events are the record.',
  [v1('policies.check')]: 'The decisions are kept by themselves.',
  'POST /otlp/v1/traces': 'Agents record what they do; the events are the record.',
  'POST /server/v1/backtests': 'It changes nothing.',
  'POST /console/api/sign-out': 'Only a person can sign out: sign-in/audited-sign-ins.test.ts.',
  'DELETE /console/api/sign-ins/:id': 'Only a person can be signed out: sign-in/audited-sign-ins.test.ts.',
  'POST /server/v1/push-subscriptions': 'Only a person subscribes a browser: channels/push.test.ts.',
  'DELETE /server/v1/push-subscriptions/:id': 'Only a person has browsers: channels/push.test.ts.',
  'POST /server/v1/channels/slack/interactions': 'Slack signs it, for a person: channels/slack.test.ts.',
  'POST /server/v1/trials': 'It changes nothing.',
  'POST /server/v1/denied-tools': 'It changes nothing.',
  'POST /server/v1/judgments/preview': 'It changes nothing.',
};

/** Returns all routes of the server that may change something, as mounted. */
async function mountedRoutes(): Promise<string[]> {
  const settings = configured({ database: ':memory:' });
  const storage = await openStorage({ database: ':memory:' });
  const turns = new TenantTurns(1);
  const secret = deploymentSecret(settings);
  const observers = { metrics: () => undefined, logger: () => undefined };
  const log = new ServerLog(settings, storage, secret, observers);
  const parts = assemble(settings, storage, secret, new Metrics(() => 0), turns, log, {
    events: storedEvents(storage),
    forwards: [],
  });
  const app = fastify();
  atTestEnd(async () => {
    await app.close();
    await storage.close();
  });
  const routes: string[] = [];
  app.addHook('onRoute', ({ method, url }) => {
    for (const one of [method].flat()) if (!/^(GET|HEAD|OPTIONS)$/.test(one)) routes.push(`${one} ${url}`);
  });
  app.decorateRequest('caller', undefined);
  await parts.mount(app, () => false);
  await app.ready();
  return routes;
}

test('knows for every route that changes something whether it is audited', async () => {
  const known = [...Object.keys(changes), ...Object.keys(unaudited)].sort();
  expect((await mountedRoutes()).sort()).toEqual(known);
});

test.each(Object.entries(changes))('writes exactly one entry for %s', async (route, example) => {
  const server = await testServer({
    webhookAllowedRanges: ['127.0.0.0/8'],
    publicUrl: 'https://actlog.example.com',
  });
  const [method = '', path = ''] = route.split(' ');
  const id = (await example.prepare?.(server)) ?? '';
  const before = await auditEntries(server);
  const body = example.body && JSON.parse(JSON.stringify(example.body).replace(':id', id));
  const url = path.replace(':id', id);
  await sentTo(server, method, url, body);
  const written = (await auditEntries(server)).slice(0, -before.length || undefined);
  const [, keyId] = server.apiKey.split('_').slice(1);
  expect(written).toMatchObject([
    {
      action: example.action,
      actor: { kind: 'key', name: 'startServer', principal: null },
      target: { kind: example.action.split('.')[0] },
    },
  ]);
  expect(written[0]?.actor.id).toContain(keyId?.slice(0, 8) ?? '');
  expect(JSON.stringify(written)).not.toMatch(/t0p|whsec_|al_live_|al_test_|sha256/);
  if (example.isIdempotent) {
    // Nothing changes, so nothing is recorded.
    await sentTo(server, method, url, body);
    expect(await auditEntries(server)).toHaveLength(before.length + 1);
  }
});

test.each(Object.entries(changes))('writes no entry for a request to %s that fails', async (route) => {
  const server = await testServer({});
  const [method = '', path = ''] = route.split(' ');
  const response = await sendTo(server, method, path.replace(':id', 'nope'), { unknown: true });
  // A batch reports each decision by itself.
  expect(((await response.json()) as Partial<ErrorEnvelope>).error).toBeDefined();
  expect(await auditEntries(server)).toEqual([]);
});
