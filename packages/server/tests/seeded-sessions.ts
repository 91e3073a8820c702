import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { openStorage } from '../src/open-storage.ts';
import type { Storage } from '../src/storage/storage.ts';
import { withTestDatabase } from './test-database.ts';
import { atTestEnd } from './test-end.ts';
import { type TestServer, testServer } from './test-server.ts';

/** A session to write without its events. */
export interface SeededSession {
  readonly id: string;
  readonly startedMs: number;
  readonly agentId: string;
  readonly score: number | null;
  readonly level?: 'low' | 'medium' | 'high' | 'critical';
  readonly otherAgents?: readonly string[];
  readonly tools?: readonly string[];
  readonly hasErrors?: boolean;
  readonly hasDenials?: boolean;
  readonly hasHolds?: boolean;
}

/** Rows per insert; fewer parameters than any database allows. */
const batchSize = 1000;

/** Starts a server with sessions that are written directly, because their scores are of no real events. */
export async function withSeededSessions(
  sessions: readonly SeededSession[],
): Promise<{ server: TestServer; storage: Storage }> {
  const folder = mkdtempSync(join(tmpdir(), 'actlog-seeded-'));
  atTestEnd(async () => rmSync(folder, { recursive: true }));
  const options = await withTestDatabase({ database: join(folder, 'seeded.db') });
  const server = await testServer(options);
  const storage = await openStorage({ database: options.database as string, connections: 1 });
  atTestEnd(() => storage.close());
  await storage.write(1, async ({ db }) => {
    const rest = {
      event_count: 1,
      error_count: 0,
      last_arrival: 1,
      risk_arrival: 1,
      risk_learned: 1,
      log_arrival: 1,
    } as const;
    for (let from = 0; from < sessions.length; from += batchSize) {
      const batch = sessions.slice(from, from + batchSize);
      await db
        .insertInto('sessions')
        .values(
          batch.map((session) => ({
            ...rest,
            tenant_id: 1,
            id: session.id,
            agent_id: session.agentId,
            agent_ids: JSON.stringify([session.agentId, ...(session.otherAgents ?? [])]),
            tool_names: JSON.stringify(session.tools ?? []),
            started_ms: session.startedMs,
            last_event_ms: session.startedMs,
            received_ms: Date.now(),
            risk_score: session.score,
            risk_level: session.score === null ? null : (session.level ?? 'low'),
            has_errors: session.hasErrors ? 1 : 0,
            has_denials: session.hasDenials ? 1 : 0,
            has_holds: session.hasHolds ? 1 : 0,
          })),
        )
        .execute();
      await db
        .insertInto('session_agents')
        .values(
          batch.map(({ id, startedMs, agentId, score }) => ({
            tenant_id: 1,
            agent_id: agentId,
            session_id: id,
            started_ms: startedMs,
            risk_score: score,
          })),
        )
        .execute();
      const called = batch.flatMap(({ id, startedMs, tools = [] }) =>
        tools.map((tool) => ({ tenant_id: 1, session_id: id, tool_name: tool, started_ms: startedMs })),
      );
      if (called.length > 0) await db.insertInto('session_tools').values(called).execute();
    }
  });
  return { server, storage };
}

/** Returns the ids of all sessions of a list, and the number of its pages. */
export async function allPages(
  server: TestServer,
  query: Record<string, string | number>,
): Promise<{ ids: string[]; pages: number }> {
  const ids: string[] = [];
  let cursor: string | null = null;
  for (let pages = 1; pages < 1000; pages += 1) {
    const response: { items: { id: string }[]; nextCursor: string | null } = await server.ok(
      'sessions.list',
      { query: { ...query, ...(cursor && { cursor }) } },
    );
    ids.push(...response.items.map(({ id }) => id));
    cursor = response.nextCursor;
    if (cursor === null) return { ids, pages };
  }
  throw new Error('The list does not end.');
}
