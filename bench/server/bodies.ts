import { randomUUID } from 'node:crypto';

/** Makes bodies of events, each with its own id, spread over so many sessions. */
export function eventBodies(sessions: number): () => string {
  let index = 0;
  return () => {
    index += 1;
    return JSON.stringify({
      eventId: randomUUID(),
      agentId: `agent-${index % 10}`,
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
