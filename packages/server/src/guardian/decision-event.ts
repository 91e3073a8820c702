import { randomUUID } from 'node:crypto';
import { decisionCategory, type PolicyCreate } from '@actlog/protocol';
import { isoTime } from '../iso-time.ts';
import type { Services } from '../services.ts';
import type { Write } from '../storage/transaction.ts';

/** Fields of an action that every record of it contains. */
export interface ProposedAction {
  readonly toolName: string;
  readonly argumentsHash: string;
}

/** A decision about an action of an agent. */
export interface Decision extends ProposedAction {
  readonly agentId: string;
  /** `null` for an action outside a session; its decision is not recorded in any session. */
  readonly sessionId: string | null;
  /** `deny` and `require_approval` come from a policy; the others end a held action. */
  readonly decision: 'deny' | 'require_approval' | 'approved' | 'denied' | 'expired' | 'pending';
  readonly policyId: string;
  readonly pendingActionId: string | null;
  /** Id of the approver's key; `null` if no person decided. */
  readonly decidedBy: string | null;
  /** The exceeded rate, if it is the reason; such a denial is temporary. */
  readonly rate?: NonNullable<PolicyCreate['rate']>;
  /** Set when the same decision may be recorded again, to record it only once. Default: a new id. */
  readonly eventId?: string | undefined;
  /** Time for which the action was held, in milliseconds. */
  readonly heldMs: number;
  readonly nowMs: number;
}

/**
 * Records a decision as an event in the session of its action, for the risk engine and for users.
 *
 * @returns `true` if the session did not have this event before.
 */
export async function recordDecision(
  services: Services,
  write: Write,
  tenantId: number,
  { agentId, sessionId, nowMs, eventId = randomUUID(), ...payload }: Decision,
): Promise<boolean> {
  if (sessionId === null) return false;
  const event = {
    eventId,
    agentId,
    sessionId,
    sourceTimestamp: isoTime(nowMs),
    category: decisionCategory,
    schemaVersion: '1.0',
    payload: { ...payload },
  };
  const [recorded] = await services.recorder.record(write, tenantId, [
    { event, sourceMs: nowMs, receivedMs: nowMs, protoKeysRemoved: false },
  ]);
  return recorded?.isNew === true;
}
