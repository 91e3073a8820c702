import { type BodyOf, limits, mergePatch } from '@actlog/protocol';
import { ApiError, invalid, notFound } from '../service/api-error.ts';
import type { Route } from '../service/call.ts';
import { newId } from '../service/new-id.ts';
import { listName, pageOf, placed } from '../service/page.ts';
import type { AgentRecord } from '../tenant/records.ts';
import type { Tenant } from '../tenant/tenant.ts';

/** Values of unset fields of an agent. */
const unsaid = { description: null, framework: null, version: null, owner: null, metadata: {} };

/** `POST /v1/agents`. Also registers an agent that is known only from its events. */
export const createAgent: Route<'agents.create'> = ({ tenant, body, nowMs }) => {
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
export const listAgents: Route<'agents.list'> = ({ tenant, query }) => {
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
export const getAgent: Route<'agents.get'> = ({ tenant, params }) => agentOf(tenant, params.id);

/** `PATCH /v1/agents/:id`, a JSON Merge Patch (RFC 7396); removed metadata becomes empty. */
export const updateAgent: Route<'agents.update'> = ({ tenant, params, body, nowMs }) => {
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
