import { mergePatch } from '@actlog/protocol';
import { policyCreate } from '@actlog/protocol/schemas';
import { ruleOf } from '../policy/rule-of.ts';
import { ApiError, invalid, notFound } from '../service/api-error.ts';
import type { Route } from '../service/call.ts';
import { newId } from '../service/new-id.ts';
import { listName, pageOf, placed } from '../service/page.ts';
import { validated } from '../service/validated.ts';
import type { PolicyRecord } from '../tenant/records.ts';
import type { Tenant } from '../tenant/tenant.ts';

/** What a policy has where nothing is said of it. */
const unsaid = { description: null, condition: null, rate: null, approval: null, message: null };
const defaults = { ...unsaid, mode: 'enforce', priority: 0, match: {} };

/** `POST /v1/policies`. */
export const createPolicy: Route<'policies.create'> = ({ tenant, body, nowMs }) => {
  const now = new Date(nowMs).toISOString();
  const state = { status: 'active', createdAt: now, updatedAt: now, archivedAt: null, version: 1 };
  // JSON has no undefined: a field that was not sent is not there.
  return saved(tenant, { id: newId('pol'), ...defaults, ...body, ...state } as PolicyRecord);
};

/** `GET /v1/policies`. */
export const listPolicies: Route<'policies.list'> = ({ tenant, query }) => {
  const matching = placed(tenant.policies.values(), ({ createdAt }) => createdAt).filter(
    ({ row }) => query.status === undefined || row.status === query.status,
  );
  const { rows, nextCursor } = pageOf(tenant.cursors, listName('policies.list', query), query, matching);
  return { items: rows, nextCursor };
};

/** `GET /v1/policies/:id`. */
export const getPolicy: Route<'policies.get'> = ({ tenant, params }) => policyOf(tenant, params.id);

/** `PATCH /v1/policies/:id`, a JSON Merge Patch (RFC 7396); what it takes away is null again. */
export const updatePolicy: Route<'policies.update'> = ({ tenant, params, body, nowMs }) => {
  const policy = policyOf(tenant, params.id);
  if (policy.status === 'archived') {
    throw new ApiError('POLICY_ARCHIVED', 'An archived policy is never changed; create a new one.');
  }
  const { id, status, createdAt, updatedAt, archivedAt, version, ...former } = policy;
  const definition = { ...unsaid, ...(mergePatch(former, body) as typeof former) };
  // A part of a rate is one only together with the rest.
  validated('', policyCreate, definition);
  const state = { id, status, createdAt, updatedAt: new Date(nowMs).toISOString(), archivedAt };
  return saved(tenant, { ...definition, ...state, version: version + 1 });
};

/** `DELETE /v1/policies/:id` archives; again, it answers the same. */
export const archivePolicy: Route<'policies.archive'> = ({ tenant, params, nowMs }) => {
  const policy = policyOf(tenant, params.id);
  if (policy.status === 'archived') return policy;
  const now = new Date(nowMs).toISOString();
  const version = policy.version + 1;
  return saved(tenant, { ...policy, status: 'archived', archivedAt: now, updatedAt: now, version });
};

function policyOf(tenant: Tenant, id: string): PolicyRecord {
  const policy = tenant.policies.get(id);
  if (policy) return policy;
  throw notFound('policy');
}

/** @throws ApiError For what the schema cannot see: a bad condition, an approval that nothing asks for. */
function saved(tenant: Tenant, policy: PolicyRecord): PolicyRecord {
  if (policy.approval !== null && policy.effect !== 'require_approval') {
    throw invalid('approval', 'contradiction', 'goes with the effect require_approval only');
  }
  ruleOf(policy); // refuses a condition that cannot be taken
  tenant.policies.set(policy.id, policy);
  // Whoever waits for a person may be denied by it.
  tenant.waiting.wake();
  return policy;
}
