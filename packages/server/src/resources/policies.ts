import { ConditionError, parseCondition } from '@actlog/policy';
import { mergePatch, type SentOf } from '@actlog/protocol';
import { policyCreate } from '@actlog/protocol/schemas';
import { ApiError, notFound, validationError } from '../http/api-error.ts';
import { readPage } from '../http/page.ts';
import type { ReadRoute, WriteRoute } from '../http/route.ts';
import { validated } from '../http/validation.ts';
import { newIdentifier } from '../identifier.ts';
import { isoTime, isoTimeOrNull } from '../iso-time.ts';
import { maxActivePolicies } from '../policy/policy-set.ts';
import { requireRoom } from '../quota/require-room.ts';
import type { Services } from '../services.ts';
import { lockNames } from '../storage/locks.ts';
import {
  countActivePolicies,
  findPolicy,
  listPolicies,
  type PolicyDefinition,
  type StoredPolicy,
  savePolicy,
} from '../storage/policy-store.ts';
import type { Database } from '../storage/transaction.ts';

/** Policies are counted, read and written back, one write of a tenant after the other. */
const policiesLock = ['policies'];

/** A policy as the wire shows it. */
function policyView({ definition, ...policy }: StoredPolicy): SentOf<'policies.get'> {
  return {
    id: policy.id,
    ...definition,
    status: policy.status,
    createdAt: isoTime(policy.created_ms),
    updatedAt: isoTime(policy.updated_ms),
    archivedAt: isoTimeOrNull(policy.archived_ms),
    version: policy.version,
  };
}

async function existing(db: Database, tenantId: number, id: string): Promise<StoredPolicy> {
  const policy = await findPolicy(db, tenantId, id);
  if (!policy) throw notFound('policy');
  return policy;
}

/** Refuses what the schema cannot see: a condition that does not hold water, an approval that nothing asks for. */
function refuseContradictions({ condition, approval, effect }: PolicyDefinition): void {
  if (approval !== null && effect !== 'require_approval') {
    throw validationError('approval', 'contradiction', 'goes with the effect require_approval only');
  }
  if (condition === null) return;
  try {
    parseCondition(condition);
  } catch (error) {
    if (!(error instanceof ConditionError)) throw error;
    throw validationError('condition', 'invalid_condition', `cannot be taken: ${error.problem}`);
  }
}

/** `POST /v1/policies`. */
export const createPolicy: WriteRoute<'policies.create'> = {
  kind: 'write',
  async handle({ caller: { tenantId }, body, receivedMs }, { db }) {
    const definition: PolicyDefinition = {
      name: body.name,
      description: body.description ?? null,
      mode: body.mode ?? 'enforce',
      effect: body.effect,
      priority: body.priority ?? 0,
      match: body.match ?? {},
      condition: body.condition ?? null,
      rate: body.rate ?? null,
      approval: body.approval ?? null,
      message: body.message ?? null,
    };
    refuseContradictions(definition);
    await lockNames(db, tenantId, policiesLock);
    await requireRoom(db, tenantId, 'policies', countActivePolicies);
    if ((await countActivePolicies(db, tenantId)) >= maxActivePolicies) {
      throw validationError(
        '',
        'too_many_policies',
        `exceeds ${maxActivePolicies} active policies; archive some`,
      );
    }
    const policy: StoredPolicy = {
      id: newIdentifier('pol'),
      status: 'active',
      definition,
      created_ms: receivedMs,
      updated_ms: receivedMs,
      archived_ms: null,
      version: 1,
    };
    await savePolicy(db, tenantId, policy);
    return policyView(policy);
  },
};

/** `GET /v1/policies`. */
export function listPoliciesRoute({ cursors }: Services): ReadRoute<'policies.list'> {
  return {
    kind: 'read',
    async handle({ caller: { tenantId }, query }, db) {
      const { rows, nextCursor } = await readPage(
        cursors,
        { tenantId, endpoint: 'policies.list', filters: query },
        query,
        ({ after, limit }) =>
          listPolicies(db, {
            tenantId,
            status: query.status,
            after: after && { createdMs: after[0] as number, id: after[1] as string },
            limit,
          }),
        (row) => [row.created_ms, row.id],
      );
      return { items: rows.map(policyView), nextCursor };
    },
  };
}

/** `GET /v1/policies/:id`. */
export const getPolicy: ReadRoute<'policies.get'> = {
  kind: 'read',
  handle: async ({ caller, params }, db) => policyView(await existing(db, caller.tenantId, params.id)),
};

/** `PATCH /v1/policies/:id`, a JSON Merge Patch (RFC 7396). */
export const updatePolicy: WriteRoute<'policies.update'> = {
  kind: 'write',
  async handle({ caller: { tenantId }, params, body, receivedMs }, { db }) {
    await lockNames(db, tenantId, policiesLock);
    const policy = await existing(db, tenantId, params.id);
    if (policy.status === 'archived') {
      throw new ApiError('POLICY_ARCHIVED', 'An archived policy is never changed; create a new one.');
    }
    const merged = mergePatch(policy.definition, body) as Partial<PolicyDefinition>;
    // A merge patch removes what it sets to null; the wire shows such a field as null.
    const definition = { ...emptied, ...merged } as PolicyDefinition;
    // A part of a rate is one only together with the rest.
    validated('body', policyCreate, definition);
    refuseContradictions(definition);
    const next = { ...policy, definition, updated_ms: receivedMs, version: policy.version + 1 };
    await savePolicy(db, tenantId, next);
    return policyView(next);
  },
};

const emptied = { description: null, condition: null, rate: null, approval: null, message: null };

/** `DELETE /v1/policies/:id` archives; again, it answers the same. */
export const archivePolicy: WriteRoute<'policies.archive'> = {
  kind: 'write',
  async handle({ caller: { tenantId }, params, receivedMs }, { db }) {
    await lockNames(db, tenantId, policiesLock);
    const policy = await existing(db, tenantId, params.id);
    if (policy.status === 'archived') return policyView(policy);
    const next = {
      ...policy,
      status: 'archived' as const,
      archived_ms: receivedMs,
      updated_ms: receivedMs,
      version: policy.version + 1,
    };
    await savePolicy(db, tenantId, next);
    return policyView(next);
  },
};
