import type { PolicyCheck } from '@actlog/protocol';
import { v5 } from 'uuid';
import { recordDecision } from '../guardian/decision-event.ts';
import type { Services } from '../services.ts';
import { findEvents } from '../storage/event-log.ts';
import type { PendingActionRow } from '../storage/pending-action-store.ts';
import type { Database, Write } from '../storage/transaction.ts';
import type { CompiledPolicy } from './compiled-policy.ts';
import { type FiredPolicy, verdictOn } from './fired-policy.ts';

/** What policies decide about one action, as the action's session tells of it. */
export class PolicyDecisions {
  readonly #services: Services;
  readonly #tenantId: number;
  readonly #body: PolicyCheck;
  readonly #nowMs: number;

  constructor(services: Services, tenantId: number, body: PolicyCheck, nowMs: number) {
    this.#services = services;
    this.#tenantId = tenantId;
    this.#body = body;
    this.#nowMs = nowMs;
  }

  /** Tells that a policy had the action held. */
  async recordHold(write: Write, policy: CompiledPolicy, heldId: string): Promise<void> {
    await this.#record(write, 'require_approval', policy, heldId);
  }

  /**
   * Tells that a policy denies the action, where one does: once for each policy, however often a named action is asked
   * about, and also where the action was held or let through before.
   *
   * @returns the policy, where the session tells of its denial only since now.
   */
  async recordDenial(
    write: Write,
    fired: readonly FiredPolicy[],
    held: PendingActionRow | undefined,
  ): Promise<FiredPolicy | undefined> {
    const denying = denyingOf(fired);
    if (!denying) return undefined;
    const heldId = held?.id ?? null;
    const eventId = this.#denialId(denying.policy, heldId);
    const isNew = await this.#record(write, 'deny', denying.policy, heldId, eventId);
    return isNew ? denying : undefined;
  }

  /** Whether there is no denial to tell of: nothing denies the action, the session tells of it, or there is no session. */
  async isDenialTold(
    db: Database,
    fired: readonly FiredPolicy[],
    held: PendingActionRow | undefined,
  ): Promise<boolean> {
    const denying = denyingOf(fired);
    if (!denying || this.#body.sessionId === undefined) return true;
    const id = this.#denialId(denying.policy, held?.id ?? null);
    return id !== undefined && (await findEvents(db, this.#tenantId, [id])).has(id);
  }

  /** The same for the same denial; undefined where each question is about an action of its own. */
  #denialId({ id }: CompiledPolicy, heldId: string | null): string | undefined {
    const { agentId, actionId = heldId } = this.#body;
    if (actionId === null) return undefined;
    const denial = JSON.stringify([this.#tenantId, agentId, actionId, id]);
    return v5(denial, this.#services.secret.eventIdKey);
  }

  #record(
    write: Write,
    decision: 'deny' | 'require_approval',
    { id, definition: { rate } }: CompiledPolicy,
    heldId: string | null,
    eventId?: string,
  ): Promise<boolean> {
    return recordDecision(this.#services, write, this.#tenantId, {
      agentId: this.#body.agentId,
      sessionId: this.#body.sessionId ?? null,
      toolName: this.#body.action.toolName,
      argumentsHash: this.#body.action.argumentsHash,
      decision,
      policyId: id,
      ...(decision === 'deny' && rate !== null && { rate }),
      pendingActionId: heldId,
      decidedBy: null,
      eventId,
      heldMs: 0,
      nowMs: this.#nowMs,
    });
  }
}

/** The policy by which the action is denied; undefined where it is not. */
function denyingOf(fired: readonly FiredPolicy[]): FiredPolicy | undefined {
  const { decision, decidedBy } = verdictOn(fired);
  return decision === 'deny' ? decidedBy : undefined;
}
