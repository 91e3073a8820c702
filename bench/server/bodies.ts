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
    return body(
      index,
      newId(),
      agentIds[index % agentIds.length] as string,
      `bench-session-${index % sessions}`,
    );
  };
}

/** Agents that work at the same time in {@link shortSessionBodies}. */
const busyAgents = 500;

/** Returns the id of an agent in {@link shortSessionBodies}. */
export function shortSessionAgent(agent: number): string {
  return `bench-agent-${agent}`;
}

/**
 * Returns a generator of the event bodies of sessions with two or three events. The agents take turns, so that many work
 * at the same time.
 */
export function shortSessionBodies(agents: number): () => string {
  const newId = eventIds(7);
  let index = 0;
  return () => {
    // Five events of an agent are a session of two and one of three.
    const turn = Math.floor(index / (5 * busyAgents));
    const agent = ((turn * busyAgents) % agents) + (index % busyAgents);
    const session = 2 * turn + (Math.floor(index / busyAgents) % 5 < 2 ? 0 : 1);
    index += 1;
    return body(index, newId(), shortSessionAgent(agent), `bench-session-${agent}-${session}`);
  };
}

function body(index: number, eventId: string, agentId: string, sessionId: string): string {
  return JSON.stringify({
    eventId,
    agentId,
    sessionId,
    sourceTimestamp: new Date().toISOString(),
    category: 'tool_api',
    schemaVersion: '1.0',
    payload: {
      toolName: `search_documents_${index % 7}`,
      argumentsHash: 'sha256:9f86d081884c7d659a2feaa0c55ad015a3bf4f1b2b0b822cd15d6c15b0f00a08',
      responseStatus: index % 29 === 0 ? 500 : 200,
    },
  });
}
