import { randomUUID } from 'node:crypto';
import { v7 } from 'uuid';

/**
 * Version of event ids: in the order of time, like those of actlog's recorder and many other clients (version 7 of
 * RFC 9562), or random (version 4).
 */
export type IdVersion = 4 | 7;

/** Returns a generator of event ids. */
export function eventIds(version: IdVersion): () => string {
  return version === 7 ? v7 : randomUUID;
}

/** Agents in the events of {@link eventBodies}. */
export const agentIds: readonly string[] = Array.from({ length: 10 }, (_, index) => `agent-${index}`);

/** Returns a generator of event bodies, each with its own id, spread over this many sessions. */
export function eventBodies(sessions: number, version: IdVersion = 7): () => string {
  const newId = eventIds(version);
  let index = 0;
  return () => {
    index += 1;
    return JSON.stringify({
      eventId: newId(),
      agentId: agentIds[index % agentIds.length],
      sessionId: `bench-session-${index % sessions}`,
      sourceTimestamp: new Date().toISOString(),
      category: 'tool_api',
      schemaVersion: '1.0',
      payload: {
        toolName: `search_documents_${index % 7}`,
        argumentsHash: 'sha256:9f86d081884c7d659a2feaa0c55ad015a3bf4f1b2b0b822cd15d6c15b0f00a08',
        responseStatus: index % 29 === 0 ? 500 : 200,
      },
    });
  };
}
