import { randomUUID } from 'node:crypto';
import type { PolicyCreate } from '@actlog/protocol';
import { isoTime } from '../iso-time.ts';
import type { Services } from '../services.ts';
import type { Write } from '../storage/transaction.ts';

/** The part of an action that every record of it names. */
export interface ProposedAction {
  readonly toolName: string;
  readonly argumentsHash: string;
}

/** What was decided about an action of an agent. */
export interface Decision extends ProposedAction {
  readonly agentId: string;
  /** Null for an action outside a session, whose decision no session tells of. */
  readonly sessionId: string | null;
  /** `deny` and `require_approval` are a policy's word; the others end the waiting. */
  readonly decision: 'deny' | 'require_approval' | 'approved' | 'denied' | 'expired' | 'pending';
  readonly policyId: string;
  readonly pendingActionId: string | null;
  /** The key of who decided; null when nobody did. */
  readonly decidedBy: string | null;
  /** The rate that was exceeded, where that is why: it denies for a while only. */
  readonly rate?: NonNullable<PolicyCreate['rate']>;
  /** Given where the same decision may come again, which is then told once. Default: a new one. */
  readonly eventId?: string | undefined;
  /** Milliseconds that the action has waited. */
  readonly heldMs: number;
  readonly nowMs: number;
}

/**
 * Writes a decision into the session of its action, where the risk engine and people find it.
 *
 * @returns whether the session tells of it only since now.
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
    category: 'guardian_decision',
    schemaVersion: '1.0',
    payload: { ...payload },
  };
  const [recorded] = await services.recorder.record(write, tenantId, [
    { event, sourceMs: nowMs, receivedMs: nowMs, protoKeysRemoved: false },
  ]);
  return recorded?.isNew === true;
}
