import { budgetProblem, defaultPolicyBudget, policyContradiction } from '@actlog/policy';
import { headers, mergePatch } from '@actlog/protocol';
import { policyCreate } from '@actlog/protocol/schemas';
import { ruleOf } from '../policy/approval-grants.ts';
import { ApiError, invalid, notFound } from '../service/api-error.ts';
import { newId, type Route, validated } from '../service/call.ts';
import { listName, pageOf, placed } from '../service/page.ts';
import type { PolicyRecord } from '../tenant/records.ts';
import type { Tenant } from '../tenant/tenant.ts';

/** Values of unset fields of a policy. */
const unsaid = {
  description: null,
  condition: null,
  rate: null,
  approval: null,
  schedule: null,
  message: null,
};
const defaults = { ...unsaid, mode: 'enforce', priority: 0, match: {} };

/** `POST /v1/policies`. */
export const createPolicy: Route<'policies.create'> = ({ tenant, body, nowMs }) => {
  const now = new Date(nowMs).toISOString();
  const state = { status: 'active', createdAt: now, updatedAt: now, archivedAt: null, version: 1 };
  // JSON has no undefined: fields that were not sent are absent.
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

/** `PATCH /v1/policies/:id`, a JSON Merge Patch (RFC 7396); removed fields become null. */
export const updatePolicy: Route<'policies.update'> = ({ tenant, params, body, nowMs }) => {
  const policy = policyOf(tenant, params.id);
  if (policy.status === 'archived') {
    throw new ApiError('POLICY_ARCHIVED', 'An archived policy cannot be changed; create a new one.');
  }
  const { id, status, createdAt, updatedAt, archivedAt, version, ...former } = policy;
  const definition = { ...unsaid, ...(mergePatch(former, body) as typeof former) };
  // A partial rate must be complete after the merge.
  validated('body', policyCreate, definition);
  const state = { id, status, createdAt, updatedAt: new Date(nowMs).toISOString(), archivedAt };
  return saved(tenant, { ...definition, ...state, version: version + 1 });
};

/** `DELETE /v1/policies/:id` archives a policy; repeating it returns the same response. */
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

/**
 * @throws ApiError for problems that the schema cannot detect: an invalid condition, an approval without
 * require_approval.
 */
function saved(tenant: Tenant, policy: PolicyRecord): PolicyRecord {
  const contradiction = policyContradiction(policy);
  if (contradiction) throw invalid(contradiction.path, 'contradiction', contradiction.message);
  requireBudget(tenant, policy);
  tenant.policies.set(policy.id, policy);
  // The policy may deny actions that wait for approval.
  tenant.waiting.wake();
  return policy;
}

/** @throws ApiError `RATE_LIMITED` like the reference server, whose operator could raise the budget. */
function requireBudget(tenant: Tenant, policy: PolicyRecord): void {
  // This also rejects an invalid condition.
  const { cost } = ruleOf(policy);
  if (policy.status === 'archived') return;
  const known = tenant.policies.get(policy.id);
  const others = [...tenant.policies.values()]
    .filter(({ id, status }) => status === 'active' && id !== policy.id)
    .reduce((sum, other) => sum + ruleOf(other).cost, 0);
  const former = known && ruleOf(known).cost;
  const problem = budgetProblem({ cost, former, others, budget: defaultPolicyBudget });
  if (problem === undefined) return;
  throw new ApiError('RATE_LIMITED', problem, {
    details: [{ path: '', code: 'quota_exceeded', message: 'exceeds the quota policyCost' }],
    headers: { [headers.retryAfter]: '3600' },
  });
}
