import { type CheckedAction, checkedAction } from '@actlog/policy';
import type { PolicyCheck, SentOf } from '@actlog/protocol';
import { expireAction } from '../guardian/expiry.ts';
import { heldOutcome } from '../guardian/held-outcome.ts';
import { holdAction } from '../guardian/hold-action.ts';
import { ApiError } from '../http/api-error.ts';
import { isoTime } from '../iso-time.ts';
import type { Services } from '../services.ts';
import { findAgentStandings } from '../storage/agent-store.ts';
import { findCheckedAction, saveCheckedAction } from '../storage/checked-action-store.ts';
import { lockNames } from '../storage/locks.ts';
import { findPendingAction, isOverdue, type PendingActionRow } from '../storage/pending-action-store.ts';
import type { Database, Write } from '../storage/transaction.ts';
import { actionDigest } from './action-digest.ts';
import { agentRevoked, type FiredPolicy, lasting, verdictOn } from './fired-policy.ts';
import type { Matches } from './matches.ts';
import { PolicyDecisions } from './policy-decisions.ts';
import type { PolicySet } from './policy-set.ts';
import { RateConditions } from './rate-conditions.ts';

/** Answer of a check. */
export type CheckAnswer = SentOf<'policies.check'>;

/** One check of one action against the policies of a tenant. */
export class Check {
  readonly #services: Services;
  readonly #tenantId: number;
  readonly #body: PolicyCheck;
  readonly #action: CheckedAction;
  readonly #digest: string;
  readonly #nowMs: number;
  readonly #heldId: string | undefined;
  readonly #decisions: PolicyDecisions;
  readonly #matches: Matches;

  /**
   * `matches` are those of the same action, from earlier rounds too; `heldId` names the pending action of an earlier
   * round, whose counting is done.
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
    this.#digest = actionDigest(this.#action);
    this.#decisions = new PolicyDecisions(services, tenantId, body, nowMs);
  }

  /** The answer, or undefined when it takes a write: to count, hold or end the action, or to tell a webhook. */
  async answerByReading(db: Database): Promise<CheckAnswer | undefined> {
    const set = await this.#services.policySets.of(db, this.#tenantId);
    const candidates = await this.#candidates(db, set);
    if (this.#heldId !== undefined) {
      const held = await this.#held(db, this.#heldId);
      if (!held || isOverdue(held, this.#nowMs)) return undefined;
      const fired = lasting(candidates);
      return (await this.#decisions.isDenialTold(db, fired, held)) ? this.#answer(fired, held) : undefined;
    }
    if (candidates.some(({ policy }) => policy.definition.rate !== null)) return undefined;
    if (candidates.length > 0 && set.wanted.has('policy.matched')) return undefined;
    const { decision } = verdictOn(candidates);
    const named = await this.#named(db);
    const held = await this.#held(db, named?.pending_action_id);
    if (held && isOverdue(held, this.#nowMs)) return undefined;
    if (decision === 'require_approval' && !held) return undefined;
    if (decision === 'deny' && !named) return undefined;
    if (!(await this.#decisions.isDenialTold(db, candidates, held))) return undefined;
    return this.#answer(candidates, held);
  }

  /** What would be answered. It leaves nothing behind: no count, nothing held, no event and no message. */
  async answerDry(db: Database): Promise<CheckAnswer> {
    const set = await this.#services.policySets.of(db, this.#tenantId);
    const named = await this.#named(db);
    const candidates = await this.#candidates(db, set);
    const fired = await this.#fire(db, candidates, this.#rates(candidates), named?.counted === 1);
    return this.#answer(fired, await this.#held(db, named?.pending_action_id));
  }

  /** The answer, with what it leaves behind. */
  async answerByWriting(write: Write): Promise<CheckAnswer> {
    const { db } = write;
    const set = await this.#services.policySets.of(db, this.#tenantId);
    const candidates = await this.#candidates(db, set);
    const waiting = await this.#heldOrEnded(write, this.#heldId);
    // Without it, it was deleted with its session, and what was decided with it: the action is asked about anew.
    if (waiting) {
      const lastingly = lasting(candidates);
      const denying = await this.#decisions.recordDenial(write, lastingly, waiting);
      if (denying) await this.#tellWebhooks(write, [denying]);
      return this.#answer(lastingly, waiting);
    }
    const rates = this.#rates(candidates);
    await lockNames(db, this.#tenantId, [this.#lockName, ...rates.lockNames]);
    const named = await this.#named(db);
    const fired = await this.#fire(db, candidates, rates, named?.counted === 1);
    const { decision, decidedBy } = verdictOn(fired);
    const counts = !rates.areNone && decision !== 'deny';
    let waitsAlready = false;
    let held = await this.#heldOrEnded(write, named?.pending_action_id);
    if (!held && decision === 'require_approval' && decidedBy) {
      const { row, isNew } = await holdAction(
        this.#services,
        write,
        this.#tenantId,
        this.#body,
        this.#digest,
        decidedBy,
        this.#nowMs,
      );
      held = row;
      waitsAlready = !isNew;
      if (isNew) {
        await this.#decisions.recordHold(write, decidedBy.policy, held.id);
      }
    }
    if (counts && named?.counted !== 1 && !waitsAlready) await rates.count(db);
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
    if (!named && !waitsAlready) await this.#tellWebhooks(write, fired);
    else if (denying) await this.#tellWebhooks(write, [denying]);
    return this.#answer(fired, held);
  }

  /** What racing checks must not do at once beside counting the same rate: name the same action, or hold it. */
  get #lockName(): string {
    const { agentId, actionId, sessionId } = this.#body;
    const action = actionId === undefined ? `same ${sessionId} ${this.#digest}` : `named ${actionId}`;
    return `action ${agentId} ${action}`;
  }

  #rates(candidates: readonly FiredPolicy[]): RateConditions {
    const policies = candidates.map(({ policy }) => policy);
    return new RateConditions(this.#tenantId, policies, this.#action, this.#nowMs);
  }

  /** Which of the policies fire; a rate counts an action once. */
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

  /** What is about the action, in the order of its say; a policy with a rate may not fire all the same. */
  async #candidates(db: Database, set: PolicySet): Promise<readonly FiredPolicy[]> {
    const { agentId } = this.#body;
    const agent = (await findAgentStandings(db, this.#tenantId, [agentId])).get(agentId);
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
        'Another action was checked under this actionId; give every action its own.',
      );
    }
    return named;
  }

  async #held(db: Database, id: string | null | undefined): Promise<PendingActionRow | undefined> {
    return id == null ? undefined : findPendingAction(db, this.#tenantId, id);
  }

  /**
   * The held action, ended when its time is over: a decision that came in time may be committed only now, and the agent
   * must not be told that nobody decided.
   */
  async #heldOrEnded(write: Write, id: string | null | undefined): Promise<PendingActionRow | undefined> {
    const row = await this.#held(write.db, id);
    if (!row || !isOverdue(row, this.#nowMs)) return row;
    return (await expireAction(this.#services, write, row, this.#nowMs)) ?? this.#held(write.db, id);
  }

  /** A denying policy of today outweighs what a person allowed before; else the person's word holds. */
  #answer(fired: readonly FiredPolicy[], held: PendingActionRow | undefined): CheckAnswer {
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

  async #tellWebhooks(write: Write, fired: readonly FiredPolicy[]): Promise<void> {
    const messages = fired.map(({ policy }) => ({
      type: 'policy.matched' as const,
      timestamp: isoTime(this.#nowMs),
      data: {
        policyId: policy.id,
        agentId: this.#body.agentId,
        sessionId: this.#body.sessionId ?? null,
        toolName: this.#body.action.toolName,
        effect: policy.definition.effect,
        mode: policy.definition.mode,
      },
    }));
    await this.#services.outbox.queue(write, this.#tenantId, ...messages);
  }
}
