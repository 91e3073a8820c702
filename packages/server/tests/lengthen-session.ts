import { sql } from 'kysely';
import { openStorage } from '../src/open-storage.ts';

/**
 * Adds events to a session of one event in an SQLite file, one second apart: calls of `search`, and last a failed one of
 * `last_call`. Many requests would take long.
 *
 * @param count - number of events that the session has then
 */
export async function lengthenSession(
  database: string,
  { sessionId, startMs, count }: { sessionId: string; startMs: number; count: number },
): Promise<void> {
  const isLast = `n = ${count - 1}`;
  const tool = `iif(${isLast}, 'last_call', 'search')`;
  const payload = `'{"toolName":"' || ${tool} || '","argumentsHash":"sha256:aa","responseStatus":' || iif(${isLast}, 500, 200) || '}'`;
  const time = `strftime('%Y-%m-%dT%H:%M:%fZ', (${startMs} + n * 1000) / 1000.0, 'unixepoch')`;
  const storage = await openStorage({ database, connections: 1 });
  await storage.write(1, async ({ db }) => {
    await sql
      .raw(`
        with recursive counter (n) as (select 1 union all select n + 1 from counter where n + 1 < ${count})
        insert into events (tenant_id, session_id, source_ms, event_id, arrival, agent_id, source_timestamp, category,
          schema_version, payload, received_ms, stamp, mark, place, agent_key)
        select 1, '${sessionId}', ${startMs} + n * 1000, printf('%08d-0000-4000-8000-000000000000', n), n + 1,
          'mailer', ${time}, 'tool_api', '1.0', ${payload}, ${startMs}, 0, iif(${isLast}, 1, 0),
          (${startMs} + n * 1000) * 32, 0 from counter`)
      .execute(db);
    await db
      .updateTable('sessions')
      .set({ event_count: count, last_event_ms: startMs + (count - 1) * 1000 })
      .where('id', '=', sessionId)
      .execute();
  });
  await storage.close();
}
