import { setImmediate as yieldToLoop } from 'node:timers/promises';
import {
  budgetProblem,
  byPrecedence,
  ConditionError,
  mayReadHistory,
  type PolicyDefinition,
  type PolicyRule,
  policyRule,
  WatchedCalls,
} from '@actlog/policy';
import type { WebhookEventType } from '@actlog/protocol';
import { keepNewest } from '../lib/keep-newest.ts';
import {
  activePolicyVersions,
  findPolicies,
  type StoredPolicy,
  settingsVersion,
} from '../storage/policies/policy-store.ts';
import type { Storage } from '../storage/storage.ts';
import { activeChannels } from '../storage/stores/channel-store.ts';
import { type DeploymentQuotas, readQuotas } from '../storage/stores/quota-store.ts';
import type { Database } from '../storage/transaction.ts';
import { PolicyCostError } from '../tenants/quotas.ts';

/** Maximum active policies per tenant; limits the duration of a check. */
export const maxActivePolicies = 1000;

/** Maximum number of tenants whose policies are cached. */
const maxTenants = 1000;

/** Duration after which {@link PolicySets.prepare} yields, in milliseconds. */
const sliceMs = 1;

/** Compiled policies of a tenant. */
export interface PolicySet {
  readonly version: number;
  /** Active policies, in order of precedence. */
  readonly policies: readonly CompiledPolicy[];
  /** Calls that conditions on the history read. */
  readonly watched: WatchedCalls;
  /** Event types that at least one webhook subscribes to. */
  readonly wanted: ReadonlySet<WebhookEventType>;
}

function inOrder(left: CompiledPolicy, right: CompiledPolicy): number {
  return byPrecedence(left.definition, right.definition) || (left.id < right.id ? -1 : 1);
}

/** Creates the set of some policies in any order. */
export function policySet(
  version: number,
  policies: readonly CompiledPolicy[],
  wanted: ReadonlySet<WebhookEventType>,
): PolicySet {
  const readers = policies.filter(({ definition }) => mayReadHistory(definition.condition ?? ''));
  return {
    version,
    policies: policies.toSorted(inOrder),
    watched: new WatchedCalls(readers.map(({ rule }) => rule)),
    wanted,
  };
}

/** Returns the summed cost per check of a tenant's active policies, without the one with `exceptId`. */
function costOf({ policies }: PolicySet, exceptId?: string): number {
  return policies.reduce((sum, { id, rule }) => (id === exceptId ? sum : sum + rule.cost), 0);
}

/** Cache of the compiled policies of tenants. Reads them again after a change by any process. */
export class PolicySets {
  readonly #cached = new Map<number, PolicySet>();

  /**
   * Returns the policies in the snapshot that `db` reads.
   *
   * @param knownVersion - version of the tenant's settings there; read unless given
   */
  async of(db: Database, tenantId: number, knownVersion?: number): Promise<PolicySet> {
    const version = knownVersion ?? (await settingsVersion(db, tenantId));
    const cached = this.#cached.get(tenantId);
    if (cached?.version === version) return cached;
    const channels = await activeChannels(db, tenantId);
    // Only changed policies are read and parsed, so that one change does not cost as much as a thousand.
    const cachedById = new Map(cached?.policies.map((policy) => [policy.id, policy]));
    const versions = await activePolicyVersions(db, tenantId, maxActivePolicies);
    const same = versions.flatMap(({ id, version: number, updated_ms: updatedMs }) => {
      const policy = cachedById.get(id);
      // The version alone is not enough: in a restored database the same number may stand for another policy.
      return policy?.version === number && policy.updated_ms === updatedMs ? [policy] : [];
    });
    const sameIds = new Set(same.map(({ id }) => id));
    const changedIds = versions.map(({ id }) => id).filter((id) => !sameIds.has(id));
    const changed = await findPolicies(db, tenantId, changedIds);
    const wanted = new Set(channels.flatMap((channel) => channel.events));
    const set = policySet(version, [...same, ...changed.map(compilePolicy)], wanted);
    keepNewest(this.#cached, tenantId, set, maxTenants);
    return set;
  }

  /** Parses conditions that were not needed yet, in slices, so that the next write finds their costs. */
  async prepare(storage: Storage, tenantId: number): Promise<void> {
    const { policies } = await storage.read(tenantId, (db) => this.of(db, tenantId));
    let endMs = performance.now() + sliceMs;
    for (const policy of policies) {
      void policy.rule;
      if (performance.now() < endMs) continue;
      await yieldToLoop();
      endMs = performance.now() + sliceMs;
    }
  }
}

/** A policy that can be evaluated. */
export interface CompiledPolicy extends StoredPolicy {
  /** Created on first access, because parsing a thousand conditions takes tens of milliseconds. */
  readonly rule: PolicyRule;
}

/**
 * Compiles a stored policy, whatever its condition costs, because earlier releases had no limit. A condition that only
 * an earlier release accepted cannot be evaluated, so the policy still denies or holds, as for any failing condition.
 */
export function compilePolicy(policy: StoredPolicy): CompiledPolicy {
  let rule: PolicyRule | undefined;
  return {
    ...policy,
    get rule() {
      rule ??= ruleOf(policy.definition);
      return rule;
    },
  };
}

function ruleOf(definition: StoredPolicy['definition']): PolicyRule {
  try {
    return policyRule(definition, Number.POSITIVE_INFINITY);
  } catch (error) {
    if (!(error instanceof ConditionError)) throw error;
    return {
      ...policyRule({ ...definition, condition: null }),
      condition: { cost: 0, history: undefined, holds: () => refuse(error) },
    };
  }
}

function refuse(error: ConditionError): never {
  throw error;
}

/** Source of the costs of a tenant's policies and of its budget. */
interface BudgetSource {
  readonly db: Database;
  readonly tenantId: number;
  readonly policySets: PolicySets;
  /** Quotas of the deployment. */
  readonly quotas: DeploymentQuotas;
}

/**
 * Checks that a policy fits into the tenant's budget. Other transactions must not write policies of the tenant at the
 * same time.
 *
 * @param replacedId - id of the policy to replace; `undefined` for a new one
 * @throws PolicyCostError 429.
 */
export async function requirePolicyBudget(
  { db, tenantId, policySets, quotas }: BudgetSource,
  definition: PolicyDefinition,
  replacedId?: string,
): Promise<void> {
  const { policyCost: budget } = await readQuotas(db, tenantId, quotas);
  if (budget === null) return;
  const { cost } = policyRule(definition, Number.POSITIVE_INFINITY);
  const set = await policySets.of(db, tenantId);
  const former = set.policies.find(({ id }) => id === replacedId)?.rule.cost;
  const problem = budgetProblem({ cost, former, others: costOf(set, replacedId), budget });
  if (problem !== undefined) throw new PolicyCostError(problem);
}

/** Returns the maximum cost per check of a tenant's active policies, in microseconds. */
export async function activePolicyCost(db: Database, tenantId: number): Promise<number> {
  return costOf(await new PolicySets().of(db, tenantId));
}
