import { createHash, randomUUID } from 'node:crypto';
import { type ActivityEvent, schemaVersion, toolCallCategory } from '@actlog/protocol';
import { isObject, type JsonObject } from '../http/api-response.ts';
import { arrays, holds } from '../http/json-search.ts';

/** Creates an event of a tool call, identifiable by its id and by the hash in its payload. */
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

function isCopy(value: unknown, event: ActivityEvent): value is JsonObject {
  return (
    isObject(value) && Object.values(value).includes(event.eventId) && holds(value, hashOf(event.eventId))
  );
}

/**
 * Returns the copies of an event in one list of a document: objects with its id and its payload. If several lists
 * contain copies, the one with the most counts.
 */
export function copiesOf(document: unknown, event: ActivityEvent): JsonObject[] {
  let most: JsonObject[] = [];
  for (const array of arrays(document)) {
    const copies = array
      .map((item) =>
        isObject(item) ? [item, ...Object.values(item)].find((part) => isCopy(part, event)) : undefined,
      )
      .filter((copy) => copy !== undefined) as JsonObject[];
    if (copies.length > most.length) most = copies;
  }
  return most;
}
