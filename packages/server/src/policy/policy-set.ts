import { setImmediate as yieldToLoop } from 'node:timers/promises';
import { byPrecedence, mayReadHistory, WatchedCalls } from '@actlog/policy';
import type { WebhookEventType } from '@actlog/protocol';
import { keepNewest } from '../lib/keep-newest.ts';
import { activePolicyVersions, findPolicies, settingsVersion } from '../storage/policies/policy-store.ts';
import type { Storage } from '../storage/storage.ts';
import { activeChannels } from '../storage/stores/channel-store.ts';
import type { Database } from '../storage/transaction.ts';
import { type CompiledPolicy, compilePolicy } from './compiled-policy.ts';

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
export function costOf({ policies }: PolicySet, exceptId?: string): number {
  return policies.reduce((sum, { id, rule }) => (id === exceptId ? sum : sum + rule.cost), 0);
}

/** Cache of the compiled policies of tenants. Reads them again after a change by any process. */
export class PolicySets {
  readonly #cached = new Map<number, PolicySet>();

  /** Returns the policies in the snapshot that `db` reads. */
  async of(db: Database, tenantId: number): Promise<PolicySet> {
    const version = await settingsVersion(db, tenantId);
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
