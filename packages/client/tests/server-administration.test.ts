import { once } from 'node:events';
import { createServer, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { Actlog, NotFoundError, ValidationError } from '@actlog/client';
import {
  createJudgment,
  deleteWebhook,
  disableWebhook,
  enableWebhook,
  endJudgment,
  getOverview,
  getSessionReview,
  getWebhook,
  handleSession,
  listAuditEntries,
  listDeliveries,
  listJudgments,
  previewJudgment,
  reopenSession,
  resendDelivery,
  rotateWebhookSecret,
  setWebhookRiskLevel,
  testWebhook,
  tryPolicies,
} from '@actlog/client/server';
import { type RunningServer, startServer } from '@actlog/server';
import { afterAll, beforeAll, expect, it } from 'vitest';

let server: RunningServer;
let receiver: Server;
let client: Actlog;
let id: string;
const statuses: number[] = [];

beforeAll(async () => {
  receiver = createServer((request, response) => {
    request.resume().on('end', () => response.writeHead(statuses.shift() ?? 204).end());
  }).listen(0, '127.0.0.1');
  await once(receiver, 'listening');
  server = await startServer({
    docs: false,
    webhookAllowedRanges: ['127.0.0.0/8'],
    webhookAllowedPorts: 'any',
  });
  client = new Actlog({ baseURL: server.url, apiKey: server.apiKey });
  const { port } = receiver.address() as AddressInfo;
  id = (await client.notificationChannels.create({ url: `http://127.0.0.1:${port}/hook?token=t` })).id;
});

afterAll(async () => {
  await server.close();
  receiver.closeAllConnections();
  receiver.close();
});

it('tests a webhook, lists its deliveries, and resends one', async () => {
  statuses.push(500);
  const queued = await testWebhook(client, id);
  expect(queued).toMatchObject({ status: 'waiting', eventType: 'webhook.test' });
  const failed = () => listDeliveries(client, id, { status: 'failed' }).toArray();
  await expect.poll(failed).toMatchObject([{ id: queued.id, responseStatus: 500 }]);
  expect((await resendDelivery(client, queued.id)).status).toBe('waiting');
  const delivered = () => listDeliveries(client, id, { status: 'delivered', limit: 1 }).toArray();
  await expect.poll(delivered).toMatchObject([{ id: queued.id, error: null }]);
});

it('disables, enables, rotates and deletes a webhook', async () => {
  expect((await disableWebhook(client, id)).status).toBe('disabled');
  await expect(testWebhook(client, id)).rejects.toThrow(ValidationError);
  expect((await enableWebhook(client, id)).status).toBe('active');
  expect((await setWebhookRiskLevel(client, id, 'critical')).riskLevel).toBe('critical');
  const { secret, previousSecretUntil } = await rotateWebhookSecret(client, id, { overlapDays: 7 });
  expect(secret).toMatch(/^whsec_/);
  expect(await getWebhook(client, id)).toMatchObject({ id, previousSecretUntil });
  await deleteWebhook(client, id);
  await expect(getWebhook(client, id)).rejects.toThrow(NotFoundError);
});

it('lists the changes over several pages, filtered by kind and time', async () => {
  const since = new Date(Date.now() - 3_600_000);
  const entries = await listAuditEntries(client, { targetKind: 'webhook', since, limit: 2 }).toArray();
  expect(entries.map(({ action }) => action)).toEqual([
    'webhook.deleted',
    'webhook.secret_rotated',
    'webhook.risk_level_changed',
    'webhook.enabled',
    'webhook.disabled',
    'webhook.message_resent',
    'webhook.tested',
    'webhook.created',
  ]);
  expect(entries.at(-1)?.target.name).toMatch(/\/hook$/);
  expect(await listAuditEntries(client, { until: since }).toArray()).toEqual([]);
});

it('tries a draft of policies on an action', async () => {
  const policies = [{ name: 'refunds', effect: 'deny', match: { tools: ['refund'] } } as const];
  const check = { agentId: 'billing', action: { toolName: 'refund', argumentsHash: 'sha256:aa' } };
  const tried = await tryPolicies(client, { policies, check });
  expect(tried).toMatchObject({ decision: 'deny', decidedBy: 'draft_0' });
  expect((await client.policies.check(check)).decision).toBe('allow');
});

it('previews, saves, lists and ends a judgment', async () => {
  const judgment = {
    kind: 'expected',
    scope: { agentId: 'newsletter', toolName: 'send_email', ruleId: 'goal.foreign-arguments' },
    reason: 'Mails the addresses in the list',
  } as const;
  const effect = await previewJudgment(client, judgment);
  expect(effect).toMatchObject({ lowered: 0, raised: 0, levels: [] });
  expect(await listJudgments(client).toArray()).toEqual([]);
  const { judgment: saved } = await createJudgment(client, judgment);
  expect(await listJudgments(client, { active: true, agentId: 'newsletter' }).toArray()).toEqual([saved]);
  const { judgment: ended } = await endJudgment(client, saved.id, { undo: true });
  expect(ended).toMatchObject({ id: saved.id, status: 'ended', isUndone: true });
  await expect(createJudgment(client, { ...judgment, scope: {} })).rejects.toThrow(ValidationError);
});

it('handles a session and opens it again', async () => {
  const payload = { toolName: 'delete_user', argumentsHash: 'sha256:00', responseStatus: 200 };
  await client.events.create({ agentId: 'a', sessionId: 'risky/1', category: 'tool_api', payload } as never);
  const { risk } = await getSessionReview(client, 'risky/1');
  expect(await handleSession(client, 'risky/1', 'An exercise')).toMatchObject({
    status: 'handled',
    handling: { reason: 'An exercise', score: Math.floor(risk.score) },
  });
  const shown = async (handled: boolean) => (await getOverview(client, { handled })).riskiestSessions.length;
  expect(await shown(true)).toBeGreaterThanOrEqual(await shown(false));
  expect((await reopenSession(client, 'risky/1')).status).toBe('open');
});
