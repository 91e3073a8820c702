import { type CheckResponse, policyDefinition, policyRule } from '@actlog/policy';
import type { PolicyCreate } from '@actlog/protocol';
import { contract, policyCreate } from '@actlog/protocol/schemas';
import * as z from 'zod';
import { requireScope } from '../http/request-gate.ts';
import { validated } from '../http/request-input.ts';
import type { ServerRoute } from '../http/server-route.ts';
import { validationError } from '../lib/api-error.ts';
import type { TenantTurns } from '../lib/tenant-turns.ts';
import { Check, type CheckParts } from '../policy/check.ts';
import { Matches, matchInTurns } from '../policy/matching.ts';
import {
  type CompiledPolicy,
  compilePolicy,
  maxActivePolicies,
  type PolicySets,
  policySet,
} from '../policy/policy-set.ts';
import { requireConsistent } from '../resources/policies.ts';
import type { Storage } from '../storage/storage.ts';
import { type DeploymentQuotas, readQuotas } from '../storage/stores/quota-store.ts';

/** Body of `POST /server/v1/trials`. */
const trialBody = z.strictObject({
  /** Policies to try, as for `POST /v1/policies`. */
  policies: z.array(policyCreate).min(1).max(maxActivePolicies),
  /** As for `POST /server/v1/backtests`. */
  mode: z.enum(['merge', 'replace']).default('merge'),
  /** The action, as for `POST /v1/policies/check`. */
  check: contract['policies.check'].body,
});

/** Maximum bytes of the matched policies in a response. A thousand policies with long messages would be megabytes. */
const maxMatchedBytes = 512 * 1024;

/** Returns a response with the first policies that matched, which include the deciding one, and the number of the others. */
function bounded(response: CheckResponse): TrialResult {
  let bytes = 0;
  const end = response.matched.findIndex((policy, index) => {
    bytes += Buffer.byteLength(JSON.stringify(policy));
    return index > 0 && bytes > maxMatchedBytes;
  });
  if (end === -1) return { ...response, moreMatched: 0 };
  const decisive = response.matched.findIndex(({ policyId }) => policyId === response.decidedBy);
  const matched = response.matched.filter((_, index) => index < end || index === decisive);
  return { ...response, matched, moreMatched: response.matched.length - matched.length };
}

/** Response of a trial: the response of a check. */
interface TrialResult extends CheckResponse {
  /** Number of matched policies that are not listed, because the list would be too long. */
  readonly moreMatched: number;
}

/** Parts that {@link draftPolicies} uses. */
export interface DraftParts {
  readonly storage: Storage;
  readonly policySets: PolicySets;
  /** Quotas of the deployment. */
  readonly quotas: DeploymentQuotas;
}

/** Parts of {@link trialsRoute}. */
export interface TrialParts extends CheckParts, DraftParts {
  /** Shares the event loop between the checks of tenants. */
  readonly tenantTurns: TenantTurns;
}

/**
 * Route `POST /server/v1/trials`: checks an action as if policies were active that are not saved. The response is
 * the same as of a check. Nothing is held, counted or kept.
 */
export function trialsRoute(parts: TrialParts): ServerRoute {
  return {
    method: 'POST',
    path: '/trials',
    success: 200,
    readsArguments: true,
    check: (caller) => requireScope(caller, 'manage'),
    async handle({ caller, body, disconnected }) {
      const { check, ...draft } = validated('body', trialBody, body);
      const { tenantId } = caller;
      const set = policySet(0, await draftPolicies(parts, tenantId, draft), new Set());
      const matches = new Matches();
      const nowMs = Date.now();
      const response = await matchInTurns(parts.tenantTurns, tenantId, matches, disconnected, () =>
        parts.storage.read(tenantId, (db) =>
          new Check(parts, caller, check, nowMs, matches).respondDry(db, set),
        ),
      );
      return bounded(response);
    },
  };
}

/** Policies to try. */
interface Draft {
  readonly policies: readonly PolicyCreate[];
  /** `merge` tries them with the active policies, instead of those with the same names; `replace` tries them alone. */
  readonly mode: 'merge' | 'replace';
}

/**
 * Returns the policies that would be active with a draft. Those of the draft have ids such as `draft_0`.
 *
 * @throws ApiError `VALIDATION_ERROR` for a contradiction, an invalid condition, or policies that cost too much together.
 */
export async function draftPolicies(
  parts: DraftParts,
  tenantId: number,
  { policies, mode }: Draft,
): Promise<CompiledPolicy[]> {
  const draft = policies.map((policy, index) => {
    const definition = policyDefinition(policy);
    requireConsistent(definition, undefined, `policies.${index}.`);
    const times = { created_ms: 0, updated_ms: 0, archived_ms: null };
    return compilePolicy({ id: `draft_${index}`, status: 'active', definition, version: 0, ...times });
  });
  const names = new Set(draft.map(({ definition }) => definition.name));
  const { budget, active } = await parts.storage.read(tenantId, async (db) => ({
    budget: (await readQuotas(db, tenantId, parts.quotas)).policyCost,
    active: (await parts.policySets.of(db, tenantId)).policies,
  }));
  const kept = mode === 'merge' ? active.filter(({ definition }) => !names.has(definition.name)) : [];
  const cost = draft.reduce((sum, { definition }) => sum + policyRule(definition).cost, 0);
  if (budget !== null && cost > budget) {
    throw validationError(
      'policies',
      'too_costly',
      `cost ${cost}, which exceeds the tenant's budget of ${budget}`,
    );
  }
  return [...kept, ...draft];
}
