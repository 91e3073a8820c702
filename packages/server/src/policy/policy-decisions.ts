import type { PolicyCheck } from '@actlog/protocol';
import { v5 } from 'uuid';
import { recordDecision } from '../guardian/decision-event.ts';
import type { Services } from '../services.ts';
import { findEvents } from '../storage/stores/event-log.ts';
import type { PendingActionRow } from '../storage/stores/pending-action-store.ts';
import type { Database, Write } from '../storage/transaction.ts';
import type { CompiledPolicy } from './compiled-policy.ts';
import { type FiredPolicy, verdictOn } from './fired-policy.ts';

/** Records the decisions of policies about one action in the action's session. */
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

  /** Records that a policy held the action. */
  async recordHold(write: Write, policy: CompiledPolicy, heldId: string): Promise<void> {
    await this.#record(write, 'require_approval', policy, heldId);
  }

  /**
   * Records that a policy denies the action, if one does. Each policy is recorded once per named action, however often
   * the action is checked, even if it was held or allowed before.
   *
   * @returns the policy, if its denial was not recorded before.
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

  /** `true` if there is no denial to record: no policy denies, the denial is recorded, or there is no session. */
  async isDenialRecorded(
    db: Database,
    fired: readonly FiredPolicy[],
    held: PendingActionRow | undefined,
  ): Promise<boolean> {
    const denying = denyingOf(fired);
    if (!denying || this.#body.sessionId === undefined) return true;
    const id = this.#denialId(denying.policy, held?.id ?? null);
    return id !== undefined && (await findEvents(db, this.#tenantId, [id])).has(id);
  }

  /** Returns the event id for a denial, the same for each repeat; `undefined` if the action has no id. */
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

/** Returns the policy that denies the action, or `undefined` if none does. */
function denyingOf(fired: readonly FiredPolicy[]): FiredPolicy | undefined {
  const { decision, decidedBy } = verdictOn(fired);
  return decision === 'deny' ? decidedBy : undefined;
}
