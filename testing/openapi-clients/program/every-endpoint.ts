// Calls every endpoint with a client that openapi-fetch makes from the types of the document: `paths.ts`, which the test
// generates beside this file.
import { randomUUID } from 'node:crypto';
import createClient from 'openapi-fetch';
import type { paths } from './paths.ts';

/** Address of a service and a key with every scope. */
export interface Service {
  readonly baseUrl: string;
  readonly apiKey: string;
}

/** Calls each endpoint once, and returns what the service responded. */
export async function callEveryEndpoint({ baseUrl, apiKey }: Service) {
  const client = createClient<paths>({ baseUrl, headers: { authorization: `Bearer ${apiKey}` } });
  const agentId = 'billing-agent';
  const sessionId = 'ticket/7';
  const argumentsHash = `sha256:${'0'.repeat(64)}`;
  const byId = (id: string) => ({ params: { path: { id } } });
  const registered = await client.POST('/v1/agents', {
    params: { header: { 'idempotency-key': randomUUID() } },
    body: { id: agentId, name: 'Billing agent', metadata: { team: 'payments' } },
  });
  const written = await client.POST('/v1/policies', {
    body: { name: 'Refunds need a person', effect: 'require_approval', match: { tools: ['refund*'] } },
  });
  const policyId = written.data?.id ?? '';
  const event = await client.POST('/v1/events', {
    body: {
      eventId: randomUUID(),
      agentId,
      sessionId,
      sourceTimestamp: new Date().toISOString(),
      category: 'tool_api',
      schemaVersion: '1.0',
      payload: { toolName: 'refund', argumentsHash, responseStatus: 200 },
    },
  });
  const check = await client.POST('/v1/policies/check', {
    params: { header: { prefer: 'wait=0' } },
    body: { agentId, sessionId, action: { toolName: 'refund', argumentsHash }, actionId: randomUUID() },
  });
  const pending = await client.GET('/v1/guardian/pending-actions', {
    params: { query: { status: 'pending' } },
  });
  const actionId = pending.data?.items[0]?.id ?? '';
  const decided = await client.POST('/v1/guardian/pending-actions/{id}/decide', {
    ...byId(actionId),
    body: { decision: 'approve', comment: 'Charged twice.' },
  });
  const channel = await client.POST('/v1/notification-channels', {
    body: { url: 'https://hooks.example.com/actlog', events: ['guardian.action_pending'] },
  });
  return {
    'agents.create': registered,
    'policies.create': written,
    'events.create': event,
    'policies.check': check,
    'guardian.pendingActions.list': pending,
    'guardian.pendingActions.decide': decided,
    'notificationChannels.create': channel,
    'notificationChannels.list': await client.GET('/v1/notification-channels'),
    'agents.list': await client.GET('/v1/agents', { params: { query: { limit: 10 } } }),
    'agents.get': await client.GET('/v1/agents/{id}', byId(agentId)),
    'agents.update': await client.PATCH('/v1/agents/{id}', { ...byId(agentId), body: { owner: 'payments' } }),
    'agents.sessions': await client.GET('/v1/agents/{id}/sessions', byId(agentId)),
    'sessions.list': await client.GET('/v1/sessions', { params: { query: { minRiskScore: 0, agentId } } }),
    'sessions.get': await client.GET('/v1/sessions/{id}', byId(sessionId)),
    'sessions.risk': await client.GET('/v1/sessions/{id}/risk', byId(sessionId)),
    'sessions.export': await client.GET('/v1/sessions/{id}/export.json', byId(sessionId)),
    'policies.list': await client.GET('/v1/policies'),
    'policies.get': await client.GET('/v1/policies/{id}', byId(policyId)),
    'policies.update': await client.PATCH('/v1/policies/{id}', {
      ...byId(policyId),
      body: { mode: 'log_only' },
    }),
    'policies.archive': await client.DELETE('/v1/policies/{id}', byId(policyId)),
  };
}
