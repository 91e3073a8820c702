import {
  type ActivityEvent,
  decisionCategory,
  type PolicyCheck,
  type SentOf,
  schemaVersion,
} from '@actlog/protocol';
import type { DefinedPolicy } from './fired-policy.ts';
import type { Rate } from './rate.ts';

type PendingAction = SentOf<'guardian.pendingActions.decide'>;

/** Payload of the event that records a decision in the session of its action. */
export interface DecisionPayload {
  readonly toolName: string;
  readonly argumentsHash: string;
  /** `deny` and `require_approval` come from a policy; the others end a held action. */
  readonly decision: 'deny' | 'require_approval' | 'approved' | 'denied' | 'expired';
  readonly policyId: string;
  /** The exceeded rate, if it is the reason; such a denial is temporary. */
  readonly rate?: Rate;
  readonly pendingActionId: string | null;
  /** Id of the approver's key; null if no person decided. */
  readonly decidedBy: string | null;
  /** Time for which the action was held, in milliseconds. */
  readonly heldMs: number;
}

/** Returns the payload for a policy that denies or holds an action. */
export function policyDecision(
  { action: { toolName, argumentsHash } }: PolicyCheck,
  decision: 'deny' | 'require_approval',
  { id, definition: { rate } }: DefinedPolicy,
  heldId: string | null,
): DecisionPayload {
  return {
    toolName,
    argumentsHash,
    decision,
    policyId: id,
    ...(decision === 'deny' && rate !== null && { rate }),
    pendingActionId: heldId,
    decidedBy: null,
    heldMs: 0,
  };
}

/** Returns the payload for the end of a held action. */
export function endDecision(
  { id, policyId, action: { toolName, argumentsHash } }: Pick<PendingAction, 'id' | 'policyId' | 'action'>,
  decision: 'approved' | 'denied' | 'expired',
  decidedBy: string | null,
  heldMs: number,
): DecisionPayload {
  return { toolName, argumentsHash, decision, policyId, pendingActionId: id, decidedBy, heldMs };
}

/** Returns the event that records a decision, for the risk engine and for the readers of the session. */
export function decisionEvent(
  eventId: string,
  { agentId, sessionId }: { readonly agentId: string; readonly sessionId: string },
  payload: DecisionPayload,
  nowMs: number,
): ActivityEvent {
  return {
    eventId,
    agentId,
    sessionId,
    sourceTimestamp: new Date(nowMs).toISOString(),
    category: decisionCategory,
    schemaVersion,
    payload: { ...payload },
  };
}

/**
 * Returns what identifies a denial, so that a policy is recorded once per action however often the action is checked;
 * `undefined` for an action without an id, whose denials are all recorded.
 */
export function denialIdentity(
  { agentId, actionId }: PolicyCheck,
  policyId: string,
  heldId: string | null,
): readonly string[] | undefined {
  const id = actionId ?? heldId;
  return id === null ? undefined : [agentId, id, policyId];
}
