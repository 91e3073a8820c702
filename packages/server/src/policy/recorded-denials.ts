import { denialIdentity, denyingPolicy, type FiredPolicy, policyDecision } from '@actlog/policy';
import type { PolicyCheck } from '@actlog/protocol';
import { v5 } from 'uuid';
import { recordDecision } from '../guardian/decision-event.ts';
import type { Services } from '../services.ts';
import { findEvents } from '../storage/stores/event-log.ts';
import type { Database, Write } from '../storage/transaction.ts';

/**
 * Denials of one action in the action's session. Each policy is recorded once per action with an id, however often the
 * action is checked, even if it was held or allowed before.
 */
export class RecordedDenials {
  readonly #services: Services;
  readonly #tenantId: number;
  readonly #body: PolicyCheck;

  constructor(services: Services, tenantId: number, body: PolicyCheck) {
    this.#services = services;
    this.#tenantId = tenantId;
    this.#body = body;
  }

  /** Records that a policy denies the action. Returns `true` if that was not recorded before. */
  add(write: Write, { policy }: FiredPolicy, heldId: string | null, nowMs: number): Promise<boolean> {
    const payload = policyDecision(this.#body, 'deny', policy, heldId);
    const eventId = this.#eventId(policy.id, heldId);
    return recordDecision(this.#services, write, this.#tenantId, this.#body, payload, nowMs, eventId);
  }

  /** `true` if there is no denial to record: no policy denies, the denial is recorded, or there is no session. */
  async isComplete(db: Database, fired: readonly FiredPolicy[], heldId: string | null): Promise<boolean> {
    const denying = denyingPolicy(fired);
    if (!denying || this.#body.sessionId === undefined) return true;
    const id = this.#eventId(denying.policy.id, heldId);
    return id !== undefined && (await findEvents(db, this.#tenantId, [id])).has(id);
  }

  /** Returns the event id for a denial, the same for each repeat; `undefined` if the action has no id. */
  #eventId(policyId: string, heldId: string | null): string | undefined {
    const identity = denialIdentity(this.#body, policyId, heldId);
    return identity && v5(JSON.stringify([this.#tenantId, ...identity]), this.#services.secret.eventIdKey);
  }
}
