import { randomUUID } from 'node:crypto';
import { type DecisionPayload, decisionEvent, type GrantRevocationPayload } from '@actlog/policy';
import type { Services } from '../services.ts';
import type { Write } from '../storage/transaction.ts';

/** Session that a decision is recorded in. */
export interface DecisionSession {
  readonly agentId: string;
  /** `null` or `undefined` for an action outside a session; its decision is not recorded in any session. */
  readonly sessionId?: string | null | undefined;
}

/**
 * Records a decision as an event in the session of its action, for the risk engine and for users.
 *
 * @param eventId - set when the same decision may be recorded again, to record it only once
 * @returns `true` if the session did not have this event before.
 */
export async function recordDecision(
  services: Services,
  write: Write,
  tenantId: number,
  { agentId, sessionId }: DecisionSession,
  payload: DecisionPayload | GrantRevocationPayload,
  nowMs: number,
  eventId: string = randomUUID(),
): Promise<boolean> {
  if (sessionId == null) return false;
  const event = decisionEvent(eventId, { agentId, sessionId }, payload, nowMs);
  const [recorded] = await services.eventWriter.write(write, tenantId, [
    { event, sourceMs: nowMs, receivedMs: nowMs, protoKeysRemoved: false },
  ]);
  return recorded?.isNew === true;
}
