import { createHash, randomUUID } from 'node:crypto';
import { type ActivityEvent, schemaVersion, toolCallCategory } from '@actlog/protocol';

/** Creates an event of a tool call, with a hash that no other event has. */
export function newEvent(
  fields: Partial<ActivityEvent> & Pick<ActivityEvent, 'agentId' | 'sessionId'>,
): ActivityEvent {
  const eventId = fields.eventId ?? randomUUID();
  return {
    eventId,
    sourceTimestamp: new Date(Date.now() - 60_000).toISOString(),
    category: toolCallCategory,
    schemaVersion,
    payload: { toolName: 'contract_probe', argumentsHash: hashOf(eventId), responseStatus: 200 },
    ...fields,
  };
}

/** Returns the hash in the payload of an event. */
export function hashOf(eventId: string): string {
  return `sha256:${createHash('sha256').update(eventId).digest('hex')}`;
}
