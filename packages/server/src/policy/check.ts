import { type CheckedAction, checkedAction, needsSingleUse } from '@actlog/policy';
import type { PolicyCheck, SentOf } from '@actlog/protocol';
import { findDecidingAction, isUsedByRunning, useApproval } from '../guardian/approval-use.ts';
import { expireAction } from '../guardian/expire-actions.ts';
import { heldOutcome } from '../guardian/held-outcome.ts';
import { holdAction, holdLock } from '../guardian/hold-action.ts';
import { ApiError } from '../http/api-error.ts';
import { isoTime } from '../iso-time.ts';
import type { ExceededQuota } from '../quota/quota.ts';
import { QuotaError } from '../quota/quota-error.ts';
import type { Services } from '../services.ts';
import { lockNames } from '../storage/locks.ts';
import { findAgentStates } from '../storage/stores/agent-store.ts';
import { findCheckedAction, saveCheckedAction } from '../storage/stores/checked-action-store.ts';
import { isOverdue, type PendingActionRow } from '../storage/stores/pending-action-store.ts';
import type { Usage } from '../storage/stores/usage-kinds.ts';
import { addUsage } from '../storage/stores/usage-store.ts';
import type { Database, Write } from '../storage/transaction.ts';
import { actionDigest } from './action-digest.ts';
import { agentRevoked, type FiredPolicy, lasting, verdictOn } from './fired-policy.ts';
import type { Matches } from './matches.ts';
import { PolicyDecisions } from './policy-decisions.ts';
import type { PolicySet } from './policy-set.ts';
import { RateConditions } from './rate-conditions.ts';

/** Maximum number of policies listed in a webhook message, which keeps it below 20 kB. */
const maxReportedPolicies = 100;

/** Response of a check. */
export type CheckResponse = SentOf<'policies.check'>;

/** A check of an action against the policies of a tenant. */
export class Check {
  readonly #services: Services;
  readonly #tenantId: number;
  readonly #body: PolicyCheck;
  readonly #action: CheckedAction;
  #knownDigest: string | undefined;
  readonly #nowMs: number;
  readonly #heldId: string | undefined;
  readonly #decisions: PolicyDecisions;
  readonly #matches: Matches;

  /**
   * @param matches - matches of the same action, also from earlier rounds
   * @param heldId - held action of an earlier round; the action is then already counted
   */
  constructor(
    services: Services,
    tenantId: number,
    body: PolicyCheck,
    nowMs: number,
    matches: Matches,
    heldId?: string,
  ) {
    this.#services = services;
    this.#tenantId = tenantId;
    this.#body = body;
    this.#nowMs = nowMs;
    this.#matches = matches;
    this.#heldId = heldId;
    this.#action = checkedAction(body);
    this.#decisions = new PolicyDecisions(services, tenantId, body, nowMs);
  }

  /**
   * Returns the response, or `undefined` if a write is needed: to count, hold or end the action, or to notify webhooks.
   */
  async respondByReading(db: Database): Promise<CheckResponse | undefined> {
    const set = await this.#services.policySets.of(db, this.#tenantId);
    const candidates = await this.#candidates(db, set);
    if (this.#heldId !== undefined) {
      const held = await this.#held(db, this.#heldId);
      if (!held || isOverdue(held, this.#nowMs)) return undefined;
      const fired = lasting(candidates);
      if (this.#usesApproval(fired, held)) return undefined;
      return (await this.#decisions.isDenialRecorded(db, fired, held))
        ? this.#response(fired, held)
        : undefined;
    }
    if (candidates.some(({ policy }) => policy.definition.rate !== null)) return undefined;
    if (candidates.length > 0 && set.wanted.has('policy.matched')) return undefined;
    const { decision } = verdictOn(candidates);
    const named = await this.#named(db);
    const held = await this.#held(db, named?.pending_action_id);
    if (held && isOverdue(held, this.#nowMs)) return undefined;
    if (decision === 'require_approval' && !held) return undefined;
    if (this.#usesApproval(candidates, held)) return undefined;
    if (decision === 'deny' && !named) return undefined;
    if (!(await this.#decisions.isDenialRecorded(db, candidates, held))) return undefined;
    return this.#response(candidates, held);
  }

  /** Returns the response without any effect: nothing is counted, held, recorded or sent. */
  async respondDry(db: Database): Promise<CheckResponse> {
    const set = await this.#services.policySets.of(db, this.#tenantId);
    const named = await this.#named(db);
    const candidates = await this.#candidates(db, set);
    const fired = await this.#fire(db, candidates, this.#rates(candidates), named?.counted === 1);
    return this.#response(fired, await this.#held(db, named?.pending_action_id));
  }

  /** Returns the response, and writes its effects. */
  async respondByWriting(write: Write): Promise<CheckResponse> {
    const { db } = write;
    const set = await this.#services.policySets.of(db, this.#tenantId);
    const candidates = await this.#candidates(db, set);
    const lastingMatches = lasting(candidates);
    const decidingAction = await this.#deciding(write, this.#heldId, lastingMatches);
    // Otherwise the held action was deleted or its approval used up, and the action is checked as a new one.
    if (decidingAction) {
      const denying = await this.#decisions.recordDenial(write, lastingMatches, decidingAction);
      if (denying) await this.#notifyWebhooks(write, [denying]);
      return this.#response(lastingMatches, decidingAction);
    }
    const rates = this.#rates(candidates);
    const mayHold = candidates.some(
      ({ policy: { definition } }) =>
        definition.effect === 'require_approval' && definition.mode === 'enforce',
    );
    const holdLocks = mayHold ? [holdLock] : [];
    await lockNames(db, this.#tenantId, [this.#lockName, ...rates.lockNames, ...holdLocks]);
    const named = await this.#named(db);
    const fired = await this.#fire(db, candidates, rates, named?.counted === 1);
    const { decision, decidedBy } = verdictOn(fired);
    const counts = !rates.isEmpty && decision !== 'deny';
    // A named action was admitted by its first check.
    if (!named) {
      const full = await this.#services.quotaGate.admitCheck(db, this.#tenantId, this.#body, this.#nowMs);
      if (full) return this.#unrecordedResponse(full, fired, counts);
    }
    let wasHeld = false;
    let heldAmounts: Partial<Usage> = {};
    let held = await this.#deciding(write, named?.pending_action_id, fired);
    if (!held && decision === 'require_approval' && decidedBy) {
      const { row, isNew, amounts } = await holdAction(
        this.#services,
        write,
        this.#tenantId,
        this.#body,
        this.#digest,
        decidedBy,
        needsSingleUse(fired, ({ policy }) => policy.definition),
        this.#nowMs,
      );
      held = row;
      heldAmounts = amounts;
      wasHeld = !isNew;
      if (isNew) {
        await this.#decisions.recordHold(write, decidedBy.policy, held.id);
      }
    }
    if (counts && named?.counted !== 1 && !wasHeld) await rates.count(db);
    const denying = await this.#decisions.recordDenial(write, fired, held);
    if (this.#body.actionId !== undefined && (counts || held || decision === 'deny')) {
      await saveCheckedAction(db, {
        tenant_id: this.#tenantId,
        agent_id: this.#body.agentId,
        action_id: this.#body.actionId,
        action_digest: this.#digest,
        pending_action_id: held?.id ?? null,
        counted: counts || named?.counted === 1 ? 1 : 0,
        created_ms: this.#nowMs,
      });
    }
    const isRecorded = !named && !wasHeld;
    await addUsage(db, this.#tenantId, { checks: isRecorded ? 1 : 0, ...heldAmounts }, this.#nowMs);
    if (isRecorded) await this.#notifyWebhooks(write, fired);
    else if (denying) await this.#notifyWebhooks(write, [denying]);
    return this.#response(fired, held);
  }

  /**
   * Returns the response of a check that cannot be recorded because of a quota. A denial remains a denial. An action
   * that would have to be counted or held is rejected, because the response would otherwise let it run.
   */
  #unrecordedResponse(full: ExceededQuota, fired: readonly FiredPolicy[], counts: boolean): CheckResponse {
    if (counts || verdictOn(fired).decision === 'require_approval') throw new QuotaError(full, this.#nowMs);
    this.#services.countQuotaRefusal(full.quota);
    return this.#response(fired, undefined);
  }

  /** Computed only for an action that was named or is held, because displayed arguments can be large. */
  get #digest(): string {
    this.#knownDigest ??= actionDigest(this.#body);
    return this.#knownDigest;
  }

  /** Lock for racing checks that name, or would hold, the same action. Rates have their own locks. */
  get #lockName(): string {
    const { agentId, actionId, sessionId } = this.#body;
    const action = actionId === undefined ? `same ${sessionId} ${this.#digest}` : `named ${actionId}`;
    return `action ${agentId} ${action}`;
  }

  #rates(candidates: readonly FiredPolicy[]): RateConditions {
    const policies = candidates.map(({ policy }) => policy);
    return new RateConditions(this.#tenantId, policies, this.#action, this.#nowMs);
  }

  /** Returns the policies that fire. A rate counts an action once. */
  async #fire(
    db: Database,
    candidates: readonly FiredPolicy[],
    rates: RateConditions,
    isCounted: boolean,
  ): Promise<readonly FiredPolicy[]> {
    const exceeded = await rates.exceeded(db, isCounted);
    return candidates.flatMap(({ policy, why }) => {
      if (policy.definition.rate === null) return [{ policy, why }];
      const reason = exceeded.get(policy.id);
      return reason === undefined ? [] : [{ policy, why: `${why}; ${reason}` }];
    });
  }

  /** Returns the matching policies in order of precedence. Those with a rate fire only if the rate is exceeded. */
  async #candidates(db: Database, set: PolicySet): Promise<readonly FiredPolicy[]> {
    const { agentId } = this.#body;
    const agent = (await findAgentStates(db, this.#tenantId, [agentId])).get(agentId);
    const matching = this.#matches.of(set, this.#action);
    return agent?.status === 'revoked' ? [agentRevoked, ...matching] : matching;
  }

  async #named(db: Database) {
    const { agentId, actionId } = this.#body;
    if (actionId === undefined) return undefined;
    const named = await findCheckedAction(db, this.#tenantId, agentId, actionId);
    if (named && named.action_digest !== this.#digest) {
      throw new ApiError(
        'ACTION_MISMATCH',
        'Another action was checked under this actionId; use a new actionId for each action.',
      );
    }
    return named;
  }

  async #held(db: Database, id: string | null | undefined): Promise<PendingActionRow | undefined> {
    if (id == null) return undefined;
    return findDecidingAction(db, this.#tenantId, id, this.#body.actionId, this.#nowMs);
  }

  /** `true` if the response uses a single-use approval, which requires a write. */
  #usesApproval(fired: readonly FiredPolicy[], held: PendingActionRow | undefined): boolean {
    return held !== undefined && verdictOn(fired).decision !== 'deny' && isUsedByRunning(held, this.#nowMs);
  }

  /**
   * Returns the held action that decides the check. Ends it if it is past its expiry, and uses a single-use approval.
   */
  async #deciding(write: Write, id: string | null | undefined, fired: readonly FiredPolicy[]) {
    const row = await this.#heldOrEnded(write, id);
    if (!row || verdictOn(fired).decision === 'deny') return row;
    return useApproval(write.db, row, this.#body.actionId, this.#nowMs);
  }

  /**
   * Returns the held action, after ending it if it is past its expiry. A decision made in time may be committed only
   * now, and then takes precedence over the expiry.
   */
  async #heldOrEnded(write: Write, id: string | null | undefined): Promise<PendingActionRow | undefined> {
    const row = await this.#held(write.db, id);
    if (!row || !isOverdue(row, this.#nowMs)) return row;
    return (await expireAction(this.#services, write, row, this.#nowMs)) ?? this.#held(write.db, id);
  }

  /** Builds the response. A policy that denies now takes precedence over an earlier approval. */
  #response(fired: readonly FiredPolicy[], held: PendingActionRow | undefined): CheckResponse {
    const { decision, decidedBy } = verdictOn(fired);
    const outcome =
      held && decision !== 'deny'
        ? heldOutcome(held, this.#nowMs)
        : { decision, decidedBy: decidedBy?.policy.id ?? null, comment: null };
    return {
      ...outcome,
      matched: fired.map(({ policy, why }) => ({
        policyId: policy.id,
        effect: policy.definition.effect,
        mode: policy.definition.mode,
        why,
        message: policy.definition.message,
      })),
      pendingActionId: held?.id ?? null,
      expiresAt: held ? isoTime(held.expires_ms) : null,
    };
  }

  /** Queues one message for all policies, so that a check is one delivery per webhook however many match. */
  async #notifyWebhooks(write: Write, fired: readonly FiredPolicy[]): Promise<void> {
    if (fired.length === 0) return;
    await this.#services.outbox.queue(write, this.#tenantId, {
      type: 'policy.matched',
      timestamp: isoTime(this.#nowMs),
      data: {
        agentId: this.#body.agentId,
        sessionId: this.#body.sessionId ?? null,
        toolName: this.#body.action.toolName,
        decision: verdictOn(fired).decision,
        policies: fired.slice(0, maxReportedPolicies).map(({ policy: { id, definition } }) => ({
          policyId: id,
          effect: definition.effect,
          mode: definition.mode,
        })),
        morePolicies: Math.max(0, fired.length - maxReportedPolicies),
      },
    });
  }
}
