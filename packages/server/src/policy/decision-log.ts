import { setImmediate } from 'node:timers/promises';
import type { CheckResponse, IdentifiedCheck } from '@actlog/policy';
import { stringifyExactJson } from '@actlog/protocol';
import type { HeldEnd } from '../guardian/decide-action.ts';
import { ApiError } from '../lib/api-error.ts';
import { newIdentifierAt } from '../lib/identifier.ts';
import type { Metrics } from '../observability/metrics.ts';
import {
  changeHeldDecision,
  identityJson,
  insertPolicyDecisions,
  lockHeldDecisions,
  type PolicyDecisionRow,
  parentsJson,
} from '../storage/policies/policy-decision-store.ts';
import { type Storage, writeForTenants } from '../storage/storage.ts';
import { ActivityChange, addActivity } from '../storage/stores/activity-change.ts';
import { addUsage, type DeploymentQuotas, leftOf, readRoom } from '../storage/stores/quota-store.ts';
import type { Usage } from '../storage/stores/quota-table.ts';
import type { Database, Write } from '../storage/transaction.ts';
import type { PolicySet } from './policy-set.ts';

type Outcome = Pick<PolicyDecisionRow, 'decision' | 'decided_by'>;

interface Waiting {
  readonly decision: PolicyDecisionRow;
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
  readonly metrics: Metrics;
}

/** Maximum number of decisions in one transaction. */
const maxGroupSize = 512;

/**
 * Keeps the decision of every check. Decisions that arrive together are written in one durable transaction, so that a
 * check that only reads costs a part of a write. A check is responded to after its decision is kept.
 *
 * A held action has one decision: it is kept in the transaction that holds the action, and changes with the end of the
 * action. Further checks of the action change it only if a policy has denied the action since.
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
  async keep(decision: PolicyDecisionRow): Promise<void> {
    if (this.#options.isOn) await this.#queued(decision);
    if (decision.dry_run === 0 && !isOfHeld(decision)) this.#options.metrics.decision(decision.decision);
  }

  /**
   * Keeps the decision that holds an action, in the transaction that holds it.
   *
   * @returns the change of the tenant's usage, to be written after the rows of sessions
   */
  async keepHeld({ db, afterCommit }: Write, decision: PolicyDecisionRow): Promise<Partial<Usage>> {
    const { isOn, quotas, metrics } = this.#options;
    const { tenant_id: tenantId, decided_ms: nowMs } = decision;
    afterCommit(() => metrics.decision(decision.decision));
    if (!isOn) return {};
    if (leftOf(await readRoom(db, tenantId, quotas, nowMs), 'decisions') < 1) {
      afterCommit(() => metrics.quotaRefusal('decisions'));
      return {};
    }
    const held = { ...decision, held_status: 'pending' } as const;
    await insertPolicyDecisions(db, [held]);
    await addActivity(db, tenantId, activityOf([held]), 'requests', nowMs);
    return { decisions: 1 };
  }

  /** Changes the decision about a held action to its outcome, in the transaction that ends the action. */
  async endHeld({ db }: Write, { tenantId, heldId, status, endedMs, ...outcome }: HeldEnd): Promise<void> {
    const stored = (await lockHeldDecisions(db, tenantId, [heldId])).get(heldId);
    // None is stored if the quota had no room, or if decisions are not kept.
    if (!stored) return;
    // A policy may have denied the action while it waited. The agent got that denial.
    const isOpen = stored.decision === 'require_approval';
    const end = { held_status: status, ended_ms: endedMs };
    await changeHeldDecision(db, tenantId, stored.id, isOpen ? { ...outcome, ...end } : end);
    if (!isOpen) return;
    const change = new ActivityChange();
    moveDecision(change, stored, outcome);
    await addActivity(db, tenantId, change, 'requests', endedMs);
  }

  /** Stores the hash of the changed arguments of a held action, in the transaction of the check that runs them. */
  async runChanged({ db }: Write, tenantId: number, heldId: string, executedHash: string): Promise<void> {
    const stored = (await lockHeldDecisions(db, tenantId, [heldId])).get(heldId);
    if (stored) await changeHeldDecision(db, tenantId, stored.id, { executed_hash: executedHash });
  }

  async #queued(decision: PolicyDecisionRow): Promise<void> {
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
  #commit(decisions: readonly PolicyDecisionRow[]): Promise<void> {
    const byTenant = [...Map.groupBy(decisions, (decision) => decision.tenant_id)];
    const groups = byTenant.map(([tenantId, rows]) => ({ tenantId, rows }));
    return writeForTenants(this.#options.storage, groups, (write, { tenantId, rows }) =>
      this.#insert(write, tenantId, rows),
    );
  }

  async #insert(
    { db, afterCommit }: Write,
    tenantId: number,
    group: readonly PolicyDecisionRow[],
  ): Promise<void> {
    const { quotas, metrics } = this.#options;
    const nowMs = Date.now();
    await changeHeld(db, tenantId, group.filter(isOfHeld), nowMs);
    const decisions = group.filter((decision) => !isOfHeld(decision));
    if (decisions.length === 0) return;
    const room = leftOf(await readRoom(db, tenantId, quotas, nowMs), 'decisions');
    const kept = decisions.slice(0, Math.max(0, room));
    afterCommit(() => {
      for (let left = decisions.length - kept.length; left > 0; left -= 1) metrics.quotaRefusal('decisions');
    });
    if (kept.length === 0) return;
    await insertPolicyDecisions(db, kept);
    await addUsage(db, tenantId, { decisions: kept.length }, nowMs, true);
    await addActivity(db, tenantId, activityOf(kept), 'decisions', nowMs);
  }
}

/** `true` for a check of a held action, whose decision is kept already. */
function isOfHeld({ pending_action_id: heldId, dry_run: isDryRun }: PolicyDecisionRow): boolean {
  return heldId !== null && isDryRun === 0;
}

/** Changes the decisions about held actions to what their agents got last. */
async function changeHeld(
  db: Database,
  tenantId: number,
  decisions: readonly PolicyDecisionRow[],
  nowMs: number,
): Promise<void> {
  if (decisions.length === 0) return;
  const last = new Map(decisions.map((decision) => [decision.pending_action_id as string, decision]));
  const change = new ActivityChange();
  for (const [heldId, stored] of await lockHeldDecisions(db, tenantId, [...last.keys()])) {
    const { decision, decided_by, matched } = last.get(heldId) as PolicyDecisionRow;
    // The response that an action waits can be older than the end of the action.
    const isStale = decision === 'require_approval' && stored.ended_ms !== null;
    if (decision === stored.decision || isStale) continue;
    await changeHeldDecision(db, tenantId, stored.id, { decision, decided_by, matched });
    moveDecision(change, stored, { decision });
  }
  await addActivity(db, tenantId, change, 'decisions', nowMs);
}

/** Counts a decision as its outcome instead, in the bucket of the check. */
function moveDecision(
  change: ActivityChange,
  { decided_ms: decidedMs, decision: from }: Pick<PolicyDecisionRow, 'decided_ms' | 'decision'>,
  { decision: to }: Pick<Outcome, 'decision'>,
): void {
  const atMs = Number(decidedMs);
  change.add(atMs, { [`decisions_${from}`]: -1 });
  change.add(atMs, { [`decisions_${to}`]: 1 });
}

/** Returns the counts of decisions. Dry runs have no effect, and are not counted. */
function activityOf(decisions: readonly PolicyDecisionRow[]): ActivityChange {
  const change = new ActivityChange();
  for (const { decision, decided_ms: decidedMs, dry_run: isDryRun } of decisions) {
    if (isDryRun === 0) change.add(decidedMs, { [`decisions_${decision}`]: 1 });
  }
  return change;
}

/** Maximum length of shown arguments that are kept with a decision, in UTF-16 code units. */
const maxArgumentsLength = 4096;

/** A check with its decision. */
export interface DecidedCheck {
  readonly tenantId: number;
  readonly check: IdentifiedCheck;
  readonly response: CheckResponse;
  /** Policies of the tenant at the time of the decision. */
  readonly set: PolicySet;
  readonly isDryRun: boolean;
  /** Time from the arrival of the check to its decision, in milliseconds. */
  readonly durationMs: number;
}

/** Returns a decision as it is stored. */
export function decisionRow({
  tenantId,
  check,
  response,
  set,
  isDryRun,
  durationMs,
}: DecidedCheck): PolicyDecisionRow {
  const { toolName, argumentsHash, arguments: shown, origins } = check.action;
  const decidedMs = Date.now();
  return {
    tenant_id: tenantId,
    id: newIdentifierAt('dec', decidedMs),
    decided_ms: decidedMs,
    agent_id: check.agentId,
    session_id: check.sessionId ?? null,
    action_id: check.actionId ?? null,
    tool_name: toolName,
    arguments_hash: argumentsHash,
    framework: check.framework ?? null,
    environment: check.environment ?? null,
    decision: response.decision,
    decided_by: response.decidedBy,
    pending_action_id: response.pendingActionId,
    dry_run: isDryRun ? 1 : 0,
    duration_us: Math.max(0, Math.round(durationMs * 1000)),
    matched: matchedJson(response, set),
    arguments: shown === undefined ? null : smallJson(shown),
    origins: origins === undefined ? null : JSON.stringify(origins),
    grant_id: response.grantId,
    principal: check.principal ?? null,
    subagent: check.subagent ?? null,
    parent_agents: parentsJson(check.parentAgentIds),
    identity: identityJson(check.identity),
    traceparent: check.traceparent ?? null,
    held_status: null,
    executed_hash: null,
    ended_ms: null,
  };
}

function matchedJson({ matched }: CheckResponse, { policies }: PolicySet): string | null {
  if (matched.length === 0) return null;
  return JSON.stringify(
    matched.map(({ policyId, policyName, effect, mode }) => {
      const policy = policies.find(({ id }) => id === policyId);
      // The built-in policy about revoked agents has no version.
      return {
        policyId,
        policyName,
        version: policy?.version ?? null,
        effect,
        mode,
        priority: policy?.definition.priority ?? 0,
      };
    }),
  );
}

/** Returns arguments as JSON; an empty string if they are too large. */
function smallJson(shown: object): string {
  const json = stringifyExactJson(shown) as string;
  return json.length <= maxArgumentsLength ? json : '';
}
