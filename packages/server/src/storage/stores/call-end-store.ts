import type { CallEnd } from '@actlog/policy';
import { toolCallCategory } from '@actlog/protocol';
import type { Database } from '../transaction.ts';
import { findEvents } from './event-log.ts';

/** End of a call in its session. */
export interface StoredCallEnd extends CallEnd {
  readonly sessionId: string;
}

/**
 * Returns how calls ended, by the ids of their events. An event reports the end of a checked call if its `eventId` is
 * the check's `actionId`.
 *
 * @param eventIds - ids in lower case
 */
export async function findCallEnds(
  db: Database,
  tenantId: number,
  eventIds: readonly string[],
): Promise<ReadonlyMap<string, StoredCallEnd>> {
  if (eventIds.length === 0) return new Map();
  const events = await findEvents(db, tenantId, eventIds);
  return new Map(
    [...events].flatMap(([id, event]) => {
      if (event.category !== toolCallCategory) return [];
      const { toolName, argumentsHash, responseStatus } = JSON.parse(event.payload) as CallEnd;
      const { agent_id: agentId, session_id: sessionId } = event;
      const receivedMs = Number(event.received_ms);
      return [[id, { agentId, sessionId, toolName, argumentsHash, responseStatus, receivedMs }] as const];
    }),
  );
}
