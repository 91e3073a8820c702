import { categoryRefusal } from '@actlog/policy';
import {
  type BodyOf,
  decisionCategory,
  limits,
  mergePatch,
  type SentOf,
  toolCallCategory,
} from '@actlog/protocol';
import { webhookEvent } from '@actlog/protocol/schemas';
import ipaddr from 'ipaddr.js';
import { decideAction, expireActions } from '../policy/pending.ts';
import { ApiError, invalid, notFound, refusalError } from '../service/api-error.ts';
import { type Call, newId, type Route, type Routes } from '../service/call.ts';
import { listName, type Placed, pageOf, placed } from '../service/page.ts';
import type { AgentRecord, ChannelRecord, EventRecord, SessionRecord } from '../tenant/records.ts';
import type { Session } from '../tenant/session.ts';
import type { Tenant } from '../tenant/tenant.ts';
import { checkPolicies } from './check.ts';
import { archivePolicy, createPolicy, getPolicy, listPolicies, updatePolicy } from './policies.ts';

type Filters = Call<'sessions.list'>['query'];

/** `GET /v1/sessions`. */
const listSessions: Route<'sessions.list'> = ({ tenant, query, nowMs }) =>
  sessionsPage(tenant, 'sessions.list', query, nowMs);

/** `GET /v1/agents/:id/sessions`. */
const listAgentSessions: Route<'agents.sessions'> = ({ tenant, params, query, nowMs }) => {
  if (!tenant.agents.has(params.id)) throw notFound('agent');
  return sessionsPage(tenant, 'agents.sessions', { ...query, agentId: params.id }, nowMs);
};

/** `GET /v1/sessions/:id`: the session with a page of its events, oldest first. */
const getSession: Route<'sessions.get'> = ({ tenant, params, query, nowMs }) => {
  const session = sessionOf(tenant, params.id, nowMs);
  const list = listName('sessions.get', params);
  const { rows, nextCursor } = pageOf(tenant.cursors, list, query, inTime(session), 'oldest first');
  return { ...session.record, events: rows, nextCursor };
};

/** `GET /v1/sessions/:id/risk`. */
const getRisk: Route<'sessions.risk'> = ({ tenant, params, nowMs }) =>
  riskOf(params.id, sessionOf(tenant, params.id, nowMs), nowMs);

/** `GET /v1/sessions/:id/export.json`. */
const exportSession: Route<'sessions.export'> = async ({ tenant, params, nowMs, responseHeaders }) => {
  const session = sessionOf(tenant, params.id, nowMs);
  const { rows: events } = pageOf(
    tenant.cursors,
    '',
    { limit: session.events.length },
    inTime(session),
    'oldest first',
  );
  const name = params.id.replaceAll(/[^\w.-]+/g, '_').slice(0, 100);
  responseHeaders.set('content-disposition', `attachment; filename="session-${name}.json"`);
  return {
    exportVersion: '1.0',
    exportedAt: new Date(nowMs).toISOString(),
    session: session.record,
    risk: riskOf(params.id, session, nowMs),
    events,
    eventCount: events.length,
    // JSON without white space writes a part exactly as it writes the part alone.
    contentSha256: await sha256(JSON.stringify(events)),
  };
};

function sessionOf(tenant: Tenant, id: string, nowMs: number): Session {
  expireActions(tenant, nowMs);
  const session = tenant.sessions.get(id);
  if (session) return session;
  throw notFound('session');
}

function sessionsPage(
  tenant: Tenant,
  endpoint: string,
  filters: Filters,
  nowMs: number,
): SentOf<'sessions.list'> {
  expireActions(tenant, nowMs);
  const matching = matchingSessions(tenant, filters);
  const { rows, nextCursor } = pageOf(tenant.cursors, listName(endpoint, filters), filters, matching);
  return { items: rows, nextCursor };
}

function inTime({ events }: Session): Placed<EventRecord>[] {
  return events.map((row) => ({ row, at: [Date.parse(row.sourceTimestamp), row.eventId] }));
}

function riskOf(sessionId: string, session: Session, nowMs: number): SentOf<'sessions.risk'> {
  const computedAt = new Date(nowMs).toISOString();
  // The engine's arrays are read-only; the response is serialized immediately.
  return { sessionId, computedAt, ...session.risk } as unknown as SentOf<'sessions.risk'>;
}

async function sha256(text: string): Promise<string> {
  const digest = await crypto.subtle.digest('SHA-256', new TextEncoder().encode(text));
  return Array.from(new Uint8Array(digest), (byte) => byte.toString(16).padStart(2, '0')).join('');
}

/** Values of unset fields of an agent. */
const unsaid = { description: null, framework: null, version: null, owner: null, metadata: {} };

/** `POST /v1/agents`. Also registers an agent that is known only from its events. */
const createAgent: Route<'agents.create'> = ({ tenant, body, nowMs }) => {
  const id = body.id ?? newId('agt');
  const seen = tenant.agents.get(id);
  if (seen?.registered) {
    throw new ApiError(
      'ALREADY_EXISTS',
      'An agent with this id is already registered; update it with PATCH.',
    );
  }
  const now = new Date(nowMs).toISOString();
  const state = {
    status: 'active',
    createdAt: now,
    lastSeenAt: null,
    ...seen,
    registered: true,
    updatedAt: now,
  };
  // JSON has no undefined: fields that were not sent are absent.
  const agent = { ...state, ...unsaid, ...body, id } as AgentRecord;
  tenant.agents.set(id, agent);
  return agent;
};

/** `GET /v1/agents`. */
const listAgents: Route<'agents.list'> = ({ tenant, query }) => {
  const { registered, status } = query;
  const matching = placed(tenant.agents.values(), ({ createdAt }) => createdAt).filter(
    ({ row }) =>
      (registered === undefined || row.registered === registered) &&
      (status === undefined || row.status === status),
  );
  const { rows, nextCursor } = pageOf(tenant.cursors, listName('agents.list', query), query, matching);
  return { items: rows, nextCursor };
};

/** `GET /v1/agents/:id`. */
const getAgent: Route<'agents.get'> = ({ tenant, params }) => agentOf(tenant, params.id);

/** `PATCH /v1/agents/:id`, a JSON Merge Patch (RFC 7396); removed metadata becomes empty. */
const updateAgent: Route<'agents.update'> = ({ tenant, params, body, nowMs }) => {
  const agent = agentOf(tenant, params.id);
  const { metadata, ...fields } = body;
  const next = {
    ...agent,
    ...Object.fromEntries(Object.entries(fields).filter(([, value]) => value !== undefined)),
    metadata: patchedMetadata(agent.metadata, metadata),
    updatedAt: new Date(nowMs).toISOString(),
  };
  tenant.agents.set(agent.id, next);
  // Callers that wait for an approval of this agent's action must be notified now.
  if (next.status !== agent.status) tenant.waiting.wake();
  return next;
};

/** Returns the metadata after a patch. Each body is limited, but so must be the result of many patches. */
function patchedMetadata(
  stored: AgentRecord['metadata'],
  patch: BodyOf<'agents.update'>['metadata'],
): AgentRecord['metadata'] {
  if (patch === undefined) return stored;
  const merged = patch === null ? {} : mergePatch(stored, patch);
  if (new TextEncoder().encode(JSON.stringify(merged)).length > limits.maxMetadataBytes) {
    throw invalid(
      'metadata',
      'too_big',
      'exceeds 256 KiB with this change; set members to null to remove them',
    );
  }
  return merged as AgentRecord['metadata'];
}

function agentOf(tenant: Tenant, id: string): AgentRecord {
  const agent = tenant.agents.get(id);
  if (agent) return agent;
  throw notFound('agent');
}

/** Default event types of a webhook. */
const allEvents = webhookEvent.options.map(({ shape }) => shape.type.value);

/** `POST /v1/notification-channels`: the only response with the signing secret. Nothing is ever delivered. */
const createChannel: Route<'notificationChannels.create'> = ({ tenant, body, nowMs }) => {
  const url = new URL(body.url);
  if (url.username !== '' || url.password !== '') {
    throw invalid('url', 'credentials_in_url', 'must not contain a user name or password');
  }
  if (url.port !== '' && url.port !== '443' && url.port !== '80') {
    throw invalid(
      'url',
      'forbidden_port',
      `uses port ${url.port}; webhooks go to the ports 443 and 80 only, unless the operator of the service allows others`,
    );
  }
  if (!isPublic(url.hostname))
    throw invalid(
      'url',
      'forbidden_address',
      'is not a public address; the operator of the service can allow ranges',
    );
  const channel: ChannelRecord = {
    id: newId('nch'),
    kind: 'webhook',
    url: url.href,
    events: [...new Set(body.events ?? allEvents)],
    status: 'active',
    createdAt: new Date(nowMs).toISOString(),
    lastDeliveryAt: null,
    failureCount: 0,
  };
  tenant.channels.set(channel.id, channel);
  const secret = crypto.getRandomValues(new Uint8Array(32));
  return { ...channel, secret: `whsec_${btoa(String.fromCharCode(...secret))}` };
};

/** `GET /v1/notification-channels`. */
const listChannels: Route<'notificationChannels.list'> = ({ tenant, query }) => {
  const all = placed(tenant.channels.values(), ({ createdAt }) => createdAt);
  const { rows, nextCursor } = pageOf(tenant.cursors, listName('notificationChannels.list', {}), query, all);
  return { items: rows, nextCursor };
};

/** `true` for any name except names of the local machine, because the mock resolves no names. */
function isPublic(host: string): boolean {
  if (/^localhost\.?$/.test(host)) return false;
  const address = host.replace(/^\[|\]$/g, '');
  return !ipaddr.isValid(address) || ipaddr.process(address).range() === 'unicast';
}

/** `GET /v1/guardian/pending-actions`. */
const listPendingActions: Route<'guardian.pendingActions.list'> = ({ tenant, query, nowMs }) => {
  expireActions(tenant, nowMs);
  const { status = 'pending', agentId, sessionId } = query;
  const matching = placed(tenant.pendingActions.values(), ({ createdAt }) => createdAt).filter(
    ({ row }) =>
      row.status === status &&
      (agentId === undefined || row.agentId === agentId) &&
      (sessionId === undefined || row.sessionId === sessionId),
  );
  const list = listName('guardian.pendingActions.list', { ...query, status });
  const { rows, nextCursor } = pageOf(tenant.cursors, list, query, matching);
  return { items: rows, nextCursor };
};

/** `POST /v1/guardian/pending-actions/:id/decide`. */
const decidePendingAction: Route<'guardian.pendingActions.decide'> = ({
  tenant,
  keyId,
  params,
  body,
  nowMs,
  protoKeysRemoved,
}) => {
  if (protoKeysRemoved) throw invalid('', 'proto_key', 'contains a key named __proto__');
  return decideAction(tenant, params.id, body, { key: keyId, principal: null }, nowMs);
};

/** `POST /v1/events`. */
const createEvent: Route<'events.create'> = ({ tenant, body, nowMs, protoKeysRemoved }) => {
  const refusal = categoryRefusal(body.category);
  if (refusal) throw refusalError(refusal);
  return tenant.record(body, nowMs, protoKeysRemoved);
};

/** Handlers of all endpoints. */
export const routes: Routes = {
  'events.create': createEvent,
  'sessions.list': listSessions,
  'sessions.get': getSession,
  'sessions.risk': getRisk,
  'sessions.export': exportSession,
  'agents.create': createAgent,
  'agents.list': listAgents,
  'agents.get': getAgent,
  'agents.update': updateAgent,
  'agents.sessions': listAgentSessions,
  'policies.create': createPolicy,
  'policies.list': listPolicies,
  'policies.get': getPolicy,
  'policies.update': updatePolicy,
  'policies.archive': archivePolicy,
  'policies.check': checkPolicies,
  'guardian.pendingActions.list': listPendingActions,
  'guardian.pendingActions.decide': decidePendingAction,
  'notificationChannels.create': createChannel,
  'notificationChannels.list': listChannels,
};

/** `true` if the text contains the other. Upper and lower case of ASCII letters are the same. */
function containsText(text: string, part: string): boolean {
  const [whole, sought] = [text, part].map((each) =>
    each.replaceAll(/[A-Z]/g, (letter) => letter.toLowerCase()),
  ) as [string, string];
  return whole.includes(sought);
}

/** Decisions of the events that give a session each status. */
const decisionsOfStatus: Readonly<Record<'denied' | 'held', readonly unknown[]>> = {
  denied: ['deny', 'denied'],
  held: ['require_approval'],
};

function hasStatus({ events }: Session, record: SessionRecord, status: Filters['status']): boolean {
  if (status === undefined) return true;
  if (status === 'errors') return record.errorCount > 0;
  return events.some(
    ({ category, payload }) =>
      category === decisionCategory && decisionsOfStatus[status].includes(payload.decision),
  );
}

function hasTool({ events }: Session, toolName: string | undefined): boolean {
  if (toolName === undefined) return true;
  return events.some(
    ({ category, payload }) => category === toolCallCategory && payload.toolName === toolName,
  );
}

/** Returns the sessions that pass the filters of a list, with their positions in its order. */
function matchingSessions(tenant: Tenant, filters: Filters): Placed<SessionRecord>[] {
  const { agentId, agentIdContains = '', idContains = '', minRiskScore = 0, level } = filters;
  const { startedAfter, startedBefore, toolName, status, sort } = filters;
  const afterMs = startedAfter === undefined ? Number.NEGATIVE_INFINITY : Date.parse(startedAfter);
  const beforeMs = startedBefore === undefined ? Number.POSITIVE_INFINITY : Date.parse(startedBefore);
  const matches = ({ session, record }: { session: Session; record: SessionRecord }) => {
    const startedMs = Date.parse(record.startedAt);
    return (
      startedMs > afterMs &&
      startedMs < beforeMs &&
      (agentId === undefined || record.agentIds.includes(agentId)) &&
      record.agentIds.some((id) => containsText(id, agentIdContains)) &&
      containsText(record.id, idContains) &&
      (record.risk?.score ?? 0) >= minRiskScore &&
      (level === undefined || record.risk?.level === level) &&
      hasTool(session, toolName) &&
      hasStatus(session, record, status)
    );
  };
  const all = [...tenant.sessions.values()].map((session) => ({ session, record: session.record }));
  return placed(all, ({ record }) => record.startedAt)
    .filter(({ row }) => matches(row))
    .map(({ row: { record }, at }) => ({
      row: record,
      at: sort === 'riskScore' ? [record.risk?.score ?? -1, ...at] : at,
    }));
}
