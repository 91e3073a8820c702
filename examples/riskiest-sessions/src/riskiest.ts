import type { Actlog, RequestOptions } from '@actlog/client';

/** A session to review, with the strongest reason. */
export interface RiskySession {
  readonly id: string;
  readonly agentId: string;
  readonly score: number;
  readonly level: string;
  /** Title of the strongest factor. */
  readonly factor: string;
  /** Calls on which the factor is based: at most five, oldest first. */
  readonly evidence: readonly string[];
}

/** Options of the query. */
export interface RiskQuery extends RequestOptions {
  readonly startedAfter: Date;
  /** Minimum score, 0 to 100. */
  readonly minRiskScore: number;
  /** Maximum number of sessions. */
  readonly most: number;
}

/** Returns the riskiest sessions, riskiest first. Sorts them, because the service lists the newest first. */
export async function* riskiest(client: Actlog, query: RiskQuery): AsyncGenerator<RiskySession> {
  const { startedAfter, minRiskScore, most, ...options } = query;
  const filter = { startedAfter, minRiskScore, limit: 200 };
  const sessions = await client.sessions.list(filter, { ...options, prefetch: true }).toArray();
  sessions.sort((a, b) => (b.risk?.score ?? 0) - (a.risk?.score ?? 0));
  for (const { id, agentId = '' } of sessions.slice(0, most)) {
    const { score = 0, level = '', factors = [] } = await client.sessions.risk(id, options);
    const [strongest] = factors;
    const evidence = await calls(client, id, strongest?.evidence.eventIds ?? [], options);
    yield { id, agentId, score, level, factor: strongest?.title ?? '', evidence };
  }
}

/** Describes the events with these ids. Stops reading when all are found. */
function calls(client: Actlog, id: string, eventIds: readonly string[], options: RequestOptions) {
  return client.sessions
    .events(id, { limit: 200 }, options)
    .filter(({ eventId }) => eventIds.includes(eventId ?? ''))
    .take(eventIds.length)
    .map(({ sourceTimestamp, payload }) => `${sourceTimestamp?.slice(11, 19)} ${String(payload?.toolName)}`)
    .toArray();
}
