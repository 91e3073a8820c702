import { setImmediate } from 'node:timers/promises';
import type { Insertable } from 'kysely';
import { ApiError } from '../lib/api-error.ts';
import { leftOf, readRoom } from '../quota/room.ts';
import { ActivityChange } from '../storage/activity/activity-change.ts';
import { addActivity } from '../storage/activity/activity-store.ts';
import { insertPolicyDecisions } from '../storage/policies/policy-decision-store.ts';
import type { PolicyDecisionTable } from '../storage/policies/policy-schema.ts';
import type { Storage } from '../storage/storage.ts';
import type { DeploymentQuotas } from '../storage/stores/quota-store.ts';
import type { QuotaName } from '../storage/stores/quota-table.ts';
import { addUsage } from '../storage/stores/usage-store.ts';
import type { Write } from '../storage/transaction.ts';
import { writeForTenants } from '../storage/write-for-tenants.ts';

type NewDecision = Insertable<PolicyDecisionTable>;

interface Waiting {
  readonly decision: NewDecision;
  readonly resolve: () => void;
  readonly reject: (error: unknown) => void;
}

/** Options of {@link DecisionLog}. */
export interface DecisionLogOptions {
  readonly storage: Pick<Storage, 'write'>;
  /** Quotas of the deployment. */
  readonly quotas: DeploymentQuotas;
  /** `false` to keep nothing. */
  readonly isOn: boolean;
  /** Maximum number of waiting decisions; further checks are rejected with 503. */
  readonly maxQueued: number;
  /** Counts a decision that is not kept because of the tenant's quota. */
  readonly countQuotaRefusal: (quota: QuotaName) => void;
  /** Counts the decision of a check that was not a dry run. */
  readonly countDecision: (decision: NewDecision['decision']) => void;
}

/** Maximum number of decisions in one transaction. */
const maxGroupSize = 512;

/**
 * Keeps the decision of every check. Decisions that arrive together are written in one durable transaction, so that a
 * check that only reads costs a part of a write. A check is responded to after its decision is kept.
 */
export class DecisionLog {
  readonly #options: DecisionLogOptions;
  #queue: Waiting[] = [];
  #running: Promise<void> | undefined;

  constructor(options: DecisionLogOptions) {
    this.#options = options;
  }

  /**
   * Keeps a decision. Resolves when it is durable, or when the tenant's quota has no room for it.
   *
   * @throws ApiError `OVERLOADED` when too many decisions wait; the error of the database when it is unavailable.
   */
  async keep(decision: NewDecision): Promise<void> {
    if (this.#options.isOn) await this.#queued(decision);
    if (decision.dry_run === 0) this.#options.countDecision(decision.decision);
  }

  async #queued(decision: NewDecision): Promise<void> {
    await new Promise<void>((resolve, reject) => {
      if (this.#queue.length >= this.#options.maxQueued) {
        throw new ApiError('OVERLOADED', 'Too many checks are in progress. Send this one again later.', {
          retryAfterSeconds: 1,
        });
      }
      this.#queue.push({ decision, resolve, reject });
      this.#running ??= this.#run();
    });
  }

  /** Resolves when no decision is waiting. */
  async drain(): Promise<void> {
    await this.#running;
  }

  async #run(): Promise<void> {
    // One turn of the event loop collects the checks that arrived together.
    await setImmediate();
    while (this.#queue.length > 0) await this.#write(this.#queue.splice(0, maxGroupSize));
    this.#running = undefined;
  }

  async #write(group: readonly Waiting[]): Promise<void> {
    try {
      await this.#commit(group.map(({ decision }) => decision));
      for (const { resolve } of group) resolve();
    } catch (error) {
      for (const { reject } of group) reject(error);
    }
  }

  /** Writes decisions in one transaction. */
  #commit(decisions: readonly NewDecision[]): Promise<void> {
    const byTenant = [...Map.groupBy(decisions, (decision) => decision.tenant_id)];
    const groups = byTenant.map(([tenantId, rows]) => ({ tenantId, rows }));
    return writeForTenants(this.#options.storage, groups, (write, { tenantId, rows }) =>
      this.#insert(write, tenantId, rows),
    );
  }

  async #insert(
    { db, afterCommit }: Write,
    tenantId: number,
    decisions: readonly NewDecision[],
  ): Promise<void> {
    const { quotas, countQuotaRefusal } = this.#options;
    const nowMs = Date.now();
    const room = leftOf(await readRoom(db, tenantId, quotas, nowMs), 'decisions');
    const kept = decisions.slice(0, Math.max(0, room));
    afterCommit(() => {
      for (let left = decisions.length - kept.length; left > 0; left -= 1) countQuotaRefusal('decisions');
    });
    if (kept.length === 0) return;
    await insertPolicyDecisions(db, kept);
    await addUsage(db, tenantId, { decisions: kept.length }, nowMs, true);
    await addActivity(db, tenantId, activityOf(kept), 'decisions', nowMs);
  }
}

/** Returns the counts of decisions. Dry runs have no effect, and are not counted. */
function activityOf(decisions: readonly NewDecision[]): ActivityChange {
  const change = new ActivityChange();
  for (const { decision, decided_ms: decidedMs, dry_run: isDryRun } of decisions) {
    if (isDryRun === 0) change.add(decidedMs, { [`decisions_${decision}`]: 1 });
  }
  return change;
}
