import { isDeepStrictEqual } from 'node:util';
import { byPrecedence } from '@actlog/policy';
import type { WebhookEventType } from '@actlog/protocol';
import { keepNewest } from '../keep-newest.ts';
import { activeChannels } from '../storage/channel-store.ts';
import { listPolicies, type StoredPolicy, settingsVersion } from '../storage/policy-store.ts';
import type { Database } from '../storage/transaction.ts';
import { type CompiledPolicy, compilePolicy } from './compiled-policy.ts';

/** Policies of one tenant that can be active at once; it bounds the time of a check. */
export const maxActivePolicies = 1000;

/** Tenants whose policies are kept ready. */
const keptTenants = 1000;

/** What a tenant has set up, ready to be asked. */
export interface PolicySet {
  readonly version: number;
  /** Active policies, in the order of their say. */
  readonly policies: readonly CompiledPolicy[];
  /** Kinds of event that some webhook wants. */
  readonly wanted: ReadonlySet<WebhookEventType>;
}

function inOrder(left: CompiledPolicy, right: CompiledPolicy): number {
  return byPrecedence(left.definition, right.definition) || (left.id < right.id ? -1 : 1);
}

/** Keeps the policies of tenants ready, and reads them again when any process has changed them. */
export class PolicySets {
  readonly #kept = new Map<number, PolicySet>();

  /** The policies as they are in the state that `db` reads. */
  async of(db: Database, tenantId: number): Promise<PolicySet> {
    const version = await settingsVersion(db, tenantId);
    const kept = this.#kept.get(tenantId);
    if (kept?.version === version) return kept;
    const { rows: stored } = await listPolicies(db, {
      tenantId,
      status: 'active',
      limit: maxActivePolicies,
    });
    const channels = await activeChannels(db, tenantId);
    // To compile a thousand conditions takes tens of milliseconds, in which nothing else is done.
    const known = new Map(kept?.policies.map((policy) => [policy.id, policy]));
    const compiled = (policy: StoredPolicy): CompiledPolicy => {
      const { definition, rule } = known.get(policy.id) ?? {};
      // Not by its version: of a database that was restored, the same number may mean something else.
      const isSame = rule !== undefined && isDeepStrictEqual(definition, policy.definition);
      return isSame ? { ...policy, rule } : compilePolicy(policy);
    };
    const set = {
      version,
      policies: stored.map(compiled).sort(inOrder),
      wanted: new Set(channels.flatMap((channel) => channel.events)),
    };
    keepNewest(this.#kept, tenantId, set, keptTenants);
    return set;
  }
}
