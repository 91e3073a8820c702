import { type BodyOf, limits, mergePatch } from '@actlog/protocol';
import { ApiError, notFound, validationError } from '../http/api-error.ts';
import { readPage } from '../http/page.ts';
import type { ReadRoute, WriteRoute } from '../http/route.ts';
import { newIdentifier } from '../identifier.ts';
import type { Services } from '../services.ts';
import { findAgent, listAgents, saveAgent } from '../storage/agent-store.ts';
import { lockNames } from '../storage/locks.ts';
import { raiseSettingsVersion } from '../storage/policy-store.ts';
import { agentView } from './agent-view.ts';
import { sessionsPage } from './sessions.ts';

/**
 * `POST /v1/agents`. An agent that was only seen so far is registered by it, and keeps its history; one that is
 * registered is not registered twice.
 */
export const createAgent: WriteRoute<'agents.create'> = {
  kind: 'write',
  async handle({ caller: { tenantId }, body, receivedMs }, { db }) {
    const id = body.id ?? newIdentifier('agt');
    await lockNames(db, tenantId, [`agent ${id}`]);
    const seen = await findAgent(db, tenantId, id);
    if (seen?.registered === 1) {
      throw new ApiError('ALREADY_EXISTS', 'An agent with this id is registered; change it with PATCH.');
    }
    const row = {
      tenant_id: tenantId,
      id,
      name: body.name,
      description: body.description ?? null,
      framework: body.framework ?? null,
      version: body.version ?? null,
      owner: body.owner ?? null,
      metadata: JSON.stringify(body.metadata ?? {}),
      status: seen?.status ?? ('active' as const),
      registered: 1 as const,
      created_ms: seen?.created_ms ?? receivedMs,
      updated_ms: receivedMs,
      last_seen_ms: seen?.last_seen_ms ?? null,
    };
    await saveAgent(db, row);
    return agentView(row);
  },
};

/** `GET /v1/agents`. */
export function listAgentsRoute({ cursors }: Services): ReadRoute<'agents.list'> {
  return {
    kind: 'read',
    async handle({ caller: { tenantId }, query }, db) {
      const { rows, nextCursor } = await readPage(
        cursors,
        { tenantId, endpoint: 'agents.list', filters: query },
        query,
        ({ after, limit }) =>
          listAgents(db, {
            tenantId,
            registered: query.registered,
            status: query.status,
            after: after && { createdMs: after[0] as number, id: after[1] as string },
            limit,
          }),
        (row) => [row.created_ms, row.id],
      );
      return { items: rows.map(agentView), nextCursor };
    },
  };
}

/** `GET /v1/agents/:id`. */
export const getAgent: ReadRoute<'agents.get'> = {
  kind: 'read',
  async handle({ caller, params }, db) {
    const row = await findAgent(db, caller.tenantId, params.id);
    if (!row) throw notFound('agent');
    return agentView(row);
  },
};

/** `PATCH /v1/agents/:id`, a JSON Merge Patch (RFC 7396). */
export const updateAgent: WriteRoute<'agents.update'> = {
  kind: 'write',
  async handle({ caller, params, body, receivedMs }, { db }) {
    await lockNames(db, caller.tenantId, [`agent ${params.id}`]);
    const row = await findAgent(db, caller.tenantId, params.id);
    if (!row) throw notFound('agent');
    const { metadata, ...fields } = body;
    const present = Object.fromEntries(Object.entries(fields).filter(([, value]) => value !== undefined));
    const next = {
      ...row,
      ...present,
      metadata: patchedMetadata(row.metadata, metadata),
      updated_ms: receivedMs,
    };
    await saveAgent(db, next);
    // Whoever waits for a person to allow an action of this agent is to hear of it now.
    if (next.status !== row.status) await raiseSettingsVersion(db, caller.tenantId);
    return agentView(next);
  },
};

/** The metadata after a patch, in JSON. A body is bounded, but what many of them add up to has to be bounded too. */
function patchedMetadata(stored: string, patch: BodyOf<'agents.update'>['metadata']): string {
  if (patch === undefined) return stored;
  const merged = JSON.stringify(patch === null ? {} : mergePatch(JSON.parse(stored), patch));
  if (Buffer.byteLength(merged) > limits.maxMetadataBytes) {
    throw validationError(
      'metadata',
      'too_big',
      'exceeds 256 KiB with this change; set members to null to remove them',
    );
  }
  return merged;
}

/** `GET /v1/agents/:id/sessions`. */
export function listAgentSessions(services: Services): ReadRoute<'agents.sessions'> {
  return {
    kind: 'read',
    prepare: ({ caller }) => services.settling.beforeList(caller.tenantId),
    async handle({ caller: { tenantId }, params, query }, db) {
      if (!(await findAgent(db, tenantId, params.id))) throw notFound('agent');
      return sessionsPage(services, db, tenantId, 'agents.sessions', { ...query, agentId: params.id });
    },
  };
}
