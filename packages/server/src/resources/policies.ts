import { createHash } from 'node:crypto';
import { canonicalJson } from '@actlog/log';
import {
  ConditionError,
  maxConditionCost,
  type PolicyDefinition,
  parseCondition,
  policyContradiction,
  policyDefinition,
} from '@actlog/policy';
import { type AuditAction, mergePatch, type SentOf } from '@actlog/protocol';
import { policyCreate } from '@actlog/protocol/schemas';
import { type Cursors, readCreatedPage } from '../http/page.ts';
import { validated } from '../http/request-input.ts';
import type { ReadRoute, WriteRoute } from '../http/route.ts';
import { ApiError, notFound, validationError } from '../lib/api-error.ts';
import { newIdentifier } from '../lib/identifier.ts';
import { isoTime, isoTimeOrNull } from '../lib/iso-time.ts';
import { maxActivePolicies, type PolicySets, requirePolicyBudget } from '../policy/policy-set.ts';
import { lockNames } from '../storage/locks.ts';
import {
  countActivePolicies,
  countPolicies,
  findPolicy,
  listPolicies,
  type StoredPolicy,
  savePolicy,
} from '../storage/policies/policy-store.ts';
import type { Storage } from '../storage/storage.ts';
import type { Database } from '../storage/transaction.ts';
import { type AuditParts, auditRequest, type Change, fieldChanges } from '../tenants/audit-log.ts';
import { requireRoom } from '../tenants/quotas.ts';

/** Name of the lock that serializes writes of policies per tenant, because they are counted, read and written back. */
const policiesLock = ['policies'];

/** Returns a policy as the wire shows it. */
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

/**
 * Rejects contradictions that the schema cannot express: an invalid condition, an approval without
 * `require_approval`, more approvers than keys that may approve, or an unknown time zone. An unchanged condition may exceed the cost limit, because earlier releases had none.
 *
 * @param pathPrefix - path of the policy in the body, ending with a period; empty if the body is the policy
 */
export function requireConsistent(
  definition: PolicyDefinition,
  former?: PolicyDefinition,
  pathPrefix = '',
): void {
  const contradiction = policyContradiction(definition);
  if (contradiction) {
    throw validationError(pathPrefix + contradiction.path, 'contradiction', contradiction.message);
  }
  const { condition } = definition;
  if (condition === null) return;
  try {
    parseCondition(condition, condition === former?.condition ? Number.POSITIVE_INFINITY : maxConditionCost);
  } catch (error) {
    if (!(error instanceof ConditionError)) throw error;
    throw validationError(`${pathPrefix}condition`, 'invalid_condition', error.problem);
  }
}

/** Parts of the routes that change the definition of a policy. */
export interface PolicyParts extends AuditParts {
  readonly storage: Storage;
  readonly policySets: PolicySets;
}

/** Route `POST /v1/policies`. */
export const createPolicy = (parts: PolicyParts): WriteRoute<'policies.create'> => ({
  kind: 'write',
  prepare: ({ caller }) => parts.policySets.prepare(parts.storage, caller.tenantId),
  async handle(call, { db }) {
    const { body, receivedMs } = call;
    const { tenantId } = call.caller;
    const { quotas, policySets } = parts;
    const definition = policyDefinition(body);
    requireConsistent(definition);
    await lockNames(db, tenantId, policiesLock);
    await requireRoom(db, tenantId, 'policies', countActivePolicies, quotas);
    await requireRoom(db, tenantId, 'storedPolicies', countPolicies, quotas);
    if ((await countActivePolicies(db, tenantId)) >= maxActivePolicies) {
      throw validationError(
        '',
        'too_many_policies',
        `exceeds ${maxActivePolicies} active policies; archive some`,
      );
    }
    await requirePolicyBudget({ db, tenantId, policySets, quotas }, definition);
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
    await auditRequest(parts, db, call, policyChange('policy.created', undefined, policy));
    return policyView(policy);
  },
});

/** Route `GET /v1/policies`. */
export function listPoliciesRoute({ cursors }: { readonly cursors: Cursors }): ReadRoute<'policies.list'> {
  return {
    kind: 'read',
    async handle({ caller: { tenantId }, query }, db) {
      const { rows, nextCursor } = await readCreatedPage(
        cursors,
        { tenantId, endpoint: 'policies.list', filters: query },
        query,
        (page) =>
          listPolicies(db, {
            tenantId,
            status: query.status,
            ...page,
          }),
      );
      return { items: rows.map(policyView), nextCursor };
    },
  };
}

/** Route `GET /v1/policies/:id`. */
export const getPolicy: ReadRoute<'policies.get'> = {
  kind: 'read',
  handle: async ({ caller, params }, db) => policyView(await existing(db, caller.tenantId, params.id)),
};

/** Route `PATCH /v1/policies/:id`, a JSON Merge Patch (RFC 7396). */
export const updatePolicy = (parts: PolicyParts): WriteRoute<'policies.update'> => ({
  kind: 'write',
  prepare: ({ caller }) => parts.policySets.prepare(parts.storage, caller.tenantId),
  async handle(call, { db }) {
    const { params, body, receivedMs } = call;
    const { tenantId } = call.caller;
    const { quotas, policySets } = parts;
    await lockNames(db, tenantId, policiesLock);
    const policy = await existing(db, tenantId, params.id);
    if (policy.status === 'archived') {
      throw new ApiError('POLICY_ARCHIVED', 'An archived policy cannot be changed; create a new one.');
    }
    const merged = mergePatch(policy.definition, body) as Partial<PolicyDefinition>;
    // A merge patch removes fields that it sets to null; the wire shows them as null.
    const definition = { ...emptied, ...merged } as PolicyDefinition;
    // Validated again, because a merged `rate` may be incomplete.
    validated('body', policyCreate, definition);
    requireConsistent(definition, policy.definition);
    await requirePolicyBudget({ db, tenantId, policySets, quotas }, definition, policy.id);
    const next = { ...policy, definition, updated_ms: receivedMs, version: policy.version + 1 };
    await savePolicy(db, tenantId, next);
    await auditRequest(parts, db, call, policyChange('policy.updated', policy, next));
    return policyView(next);
  },
});

const emptied = {
  description: null,
  condition: null,
  rate: null,
  approval: null,
  schedule: null,
  message: null,
};

/** Route `DELETE /v1/policies/:id`. Archives a policy; repeating it has the same response. */
export const archivePolicy = (parts: AuditParts): WriteRoute<'policies.archive'> => ({
  kind: 'write',
  async handle(call, { db }) {
    const { params, receivedMs } = call;
    const { tenantId } = call.caller;
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
    await auditRequest(parts, db, call, policyChange('policy.archived', policy, next));
    return policyView(next);
  },
});

/** Returns the entry of the audit log for a change of a policy, with all fields that differ. */
function policyChange(
  action: AuditAction & `policy.${string}`,
  before: StoredPolicy | undefined,
  after: StoredPolicy,
): Change {
  const fields = [...(Object.keys(after.definition) as (keyof typeof after.definition)[])];
  return {
    action,
    target: { id: after.id, name: after.definition.name },
    changes: [
      ...fieldChanges(before?.definition, after.definition, fields),
      ...fieldChanges(before, after, ['status', 'version']),
      // Also if it is the same, so that the entry of each version proves its definition.
      { field: 'definitionSha256', before: before ? hashOf(before) : null, after: hashOf(after) },
    ],
  };
}

/** Returns the hash of a policy's definition, with which evidence proves each version, also of long fields. */
function hashOf({ definition }: StoredPolicy): string {
  return createHash('sha256').update(canonicalJson(definition)).digest('hex');
}
