import { type BodyOf, limits, mergePatch, type SentOf } from '@actlog/protocol';
import type { Selectable } from 'kysely';
import { type Cursors, readCreatedPage } from '../http/page.ts';
import type { OwnRoute, ReadRoute, WriteRoute } from '../http/route.ts';
import { ApiError, notFound, validationError } from '../lib/api-error.ts';
import { newIdentifier } from '../lib/identifier.ts';
import { isoTime, isoTimeOrNull } from '../lib/iso-time.ts';
import { lockNames } from '../storage/locks.ts';
import { raiseSettingsVersion } from '../storage/policies/policy-store.ts';
import type { AgentTable } from '../storage/schema.ts';
import type { Storage } from '../storage/storage.ts';
import {
  type AgentRow,
  findAgent,
  listAgents,
  metadataBytes,
  saveAgent,
} from '../storage/stores/agent-store.ts';
import { addUsage, type DeploymentQuotas } from '../storage/stores/quota-store.ts';
import type { Database } from '../storage/transaction.ts';
import { type AuditParts, auditRequest, fieldChanges } from '../tenants/audit-log.ts';
import { agentsLock, requireCountedRoom } from '../tenants/quotas.ts';
import { type SessionListParts, sessionsPage } from './sessions.ts';

/** Name of the lock for transactions that may add metadata, so that the quota is exact. */
const metadataLock = 'quota metadata';

/** Fields of an agent whose values the audit log keeps. */
const auditedFields = ['name', 'description', 'framework', 'version', 'owner', 'status'] as const;

/**
 * Route `POST /v1/agents`. Registers an agent that was only seen in events and keeps its history; fails for one that is
 * already registered.
 */
export const createAgent = (parts: AuditParts): WriteRoute<'agents.create'> => ({
  kind: 'write',
  async handle(call, { db }) {
    const { body, receivedMs } = call;
    const { tenantId } = call.caller;
    const id = body.id ?? newIdentifier('agt');
    await lockNames(db, tenantId, [`agent ${id}`, agentsLock, metadataLock]);
    const seen = await findAgent(db, tenantId, id);
    if (seen?.registered === 1) {
      throw new ApiError(
        'ALREADY_EXISTS',
        'An agent with this id is already registered; update it with PATCH.',
      );
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
    await saveWithinQuotas(db, seen, row, parts.quotas);
    await auditRequest(parts, db, call, {
      action: 'agent.registered',
      target: { id, name: row.name },
      changes: fieldChanges(seen, row, auditedFields),
    });
    return agentView(row);
  },
});

/** Route `GET /v1/agents`. */
export function listAgentsRoute({ cursors }: { readonly cursors: Cursors }): ReadRoute<'agents.list'> {
  return {
    kind: 'read',
    async handle({ caller: { tenantId }, query }, db) {
      const { rows, nextCursor } = await readCreatedPage(
        cursors,
        { tenantId, endpoint: 'agents.list', filters: query },
        query,
        (page) =>
          listAgents(db, {
            tenantId,
            registered: query.registered,
            status: query.status,
            ...page,
          }),
      );
      return { items: rows.map(agentView), nextCursor };
    },
  };
}

/** Route `GET /v1/agents/:id`. */
export const getAgent: ReadRoute<'agents.get'> = {
  kind: 'read',
  async handle({ caller, params }, db) {
    const row = await findAgent(db, caller.tenantId, params.id);
    if (!row) throw notFound('agent');
    return agentView(row);
  },
};

/** Route `PATCH /v1/agents/:id`, a JSON Merge Patch (RFC 7396). */
export const updateAgent = (parts: AuditParts): WriteRoute<'agents.update'> => ({
  kind: 'write',
  async handle(call, { db }) {
    const { caller, params, body, receivedMs } = call;
    const locks = [`agent ${params.id}`, ...(body.metadata === undefined ? [] : [metadataLock])];
    await lockNames(db, caller.tenantId, locks);
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
    await saveWithinQuotas(db, row, next, parts.quotas);
    // Wakes checks that wait for a decision about an action of this agent.
    if (next.status !== row.status) await raiseSettingsVersion(db, caller.tenantId);
    const changes = [
      ...fieldChanges(row, next, auditedFields),
      // Callers may store anything in it.
      ...(next.metadata === row.metadata ? [] : [{ field: 'metadata' }]),
    ];
    if (changes.length > 0) {
      const target = { id: params.id, name: next.name };
      await auditRequest(parts, db, call, { action: updateAction(row, next), target, changes });
    }
    return agentView(next);
  },
});

/** Returns the kind of a change of an agent. A changed status is what an operator looks for. */
function updateAction(before: AgentRow, after: AgentRow) {
  if (before.status === after.status) return 'agent.updated';
  return after.status === 'revoked' ? 'agent.revoked' : 'agent.restored';
}

/**
 * Saves an agent, if the quotas allow it and its metadata.
 *
 * @throws QuotaError 429.
 */
async function saveWithinQuotas(
  db: Database,
  stored: AgentRow | undefined,
  next: AgentRow,
  quotas: DeploymentQuotas,
): Promise<void> {
  const { tenant_id: tenantId, updated_ms: nowMs } = next;
  const addedBytes = metadataBytes(next.metadata) - metadataBytes(stored?.metadata ?? '{}');
  const wanted = { agents: stored ? 0 : 1, metadataBytes: addedBytes };
  await requireCountedRoom(db, tenantId, wanted, nowMs, quotas);
  const isNew = await saveAgent(db, next);
  await addUsage(db, tenantId, { agents: isNew ? 1 : 0, metadataBytes: addedBytes }, nowMs);
}

/** Returns the patched metadata, as JSON. Limits its size, because many small patches can add up. */
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

/** Route `GET /v1/agents/:id/sessions`. */
export function listAgentSessions(
  parts: SessionListParts & { readonly storage: Pick<Storage, 'read'> },
): OwnRoute<'agents.sessions'> {
  return {
    kind: 'own',
    async handle({ caller: { tenantId }, params, query }) {
      await parts.scoring.beforeList(tenantId);
      const agent = await parts.storage.read(tenantId, (db) => findAgent(db, tenantId, params.id));
      if (!agent) throw notFound('agent');
      return sessionsPage(parts, tenantId, 'agents.sessions', { ...query, agentId: params.id });
    },
  };
}

/** Returns an agent as the wire shows it. */
function agentView(row: Selectable<AgentTable>): SentOf<'agents.get'> {
  return {
    id: row.id,
    name: row.name,
    description: row.description,
    framework: row.framework,
    version: row.version,
    owner: row.owner,
    metadata: JSON.parse(row.metadata) as Record<string, unknown>,
    status: row.status,
    registered: row.registered === 1,
    createdAt: isoTime(row.created_ms),
    updatedAt: isoTime(row.updated_ms),
    lastSeenAt: isoTimeOrNull(row.last_seen_ms),
  };
}
