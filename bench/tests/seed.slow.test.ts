import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import { expect, test } from 'vitest';
import { ChildServer } from '../server/child-server.ts';
import { Seeds } from '../server/seed.ts';

type Row = Record<string, unknown>;

/** Sends the events of a session of a seeded database to another server, and returns the rows of both. */
async function rowsOf(kind: 'sqlite' | 'postgres', sessionIds: readonly string[]) {
  const seeds = new Seeds();
  const folder = mkdtempSync(join(tmpdir(), 'actlog-seed-test-'));
  try {
    const isFile = kind === 'sqlite';
    const seeded = isFile ? await seeds.sqlite(2000) : await seeds.database(2000);
    const sent = isFile ? join(folder, 'sent.db') : 'sent';
    const postgres = isFile ? undefined : await seeds.postgres();
    await postgres?.query('postgres', 'create database sent owner actlog');
    const rows = (database: string, query: string) =>
      postgres ? postgres.query<Row>(database, query) : queryFile(database, query);
    const read = async (database: string) => {
      const listed = sessionIds.map((id) => `'${id}'`).join(', ');
      const ofSession = `session_id in (${listed})`;
      const of = (table: string, columns: string, condition = ofSession, order = columns) =>
        rows(database, `select ${columns} from ${table} where ${condition} order by ${order}`);
      return {
        events: await of(isFile ? 'events' : 'event_rows', '*', ofSession, 'session_id, arrival'),
        sessions: await of('sessions', '*', `id in (${listed})`, 'id'),
        agents: await of('session_agents', 'session_id, agent_id, started_ms'),
        tools: await of('session_tools', 'session_id, tool_name, started_ms'),
      };
    };
    const expected = await read(seeded);
    const server = await ChildServer.start('actlog', postgres?.url(sent, 'actlog') ?? sent);
    const headers = { authorization: `Bearer ${server.apiKey}`, 'content-type': 'application/json' };
    try {
      const source = await ChildServer.start('actlog', postgres?.url(seeded, 'actlog') ?? seeded);
      const events: Row[] = [];
      for (const id of sessionIds) {
        const response = await fetch(`${source.url}/v1/sessions/${id}?limit=20`, {
          headers: { authorization: `Bearer ${source.apiKey}` },
        });
        events.push(...((await response.json()) as { events: Row[] }).events);
      }
      await source.stop();
      for (const { receivedAt: _, ...event } of events) {
        const body = JSON.stringify(event);
        const { status } = await fetch(`${server.url}/v1/events`, { method: 'POST', headers, body });
        expect(status).toBe(202);
      }
      const behind = 'select id from sessions where is_unlogged = 1 or is_unscored = 1';
      await expect.poll(() => rows(sent, behind), { timeout: 20_000 }).toEqual([]);
      return { expected, stored: await read(sent) };
    } finally {
      await server.stop();
    }
  } finally {
    await seeds.close();
    rmSync(folder, { recursive: true });
  }
}

function queryFile(file: string, query: string): Promise<Row[]> {
  const database = new DatabaseSync(file, { readOnly: true });
  const found = database.prepare(query).all();
  database.close();
  return Promise.resolve(found);
}

/** Columns that depend on the time of receipt, and scores, which a seeded database spreads. */
const varying = {
  received_ms: expect.anything(),
  received_minute: expect.anything(),
  stamp: expect.anything(),
  risk_score: expect.anything(),
  risk_band: expect.anything(),
  risk_rank: expect.anything(),
  risk_learned: expect.anything(),
};

const varyingOf = (row: Row) => ({
  ...row,
  ...Object.fromEntries(Object.entries(varying).filter(([column]) => column in row)),
});

test.for(['sqlite', 'postgres'] as const)(
  'a seeded %s database has the rows that a server writes',
  { timeout: 180_000 },
  async (kind) => {
    // One with a failed call, and one without.
    const { expected, stored } = await rowsOf(kind, ['seeded-33', 'seeded-40']);
    expect(expected.events).toHaveLength(20);
    expect(stored.events).toEqual(expected.events.map(varyingOf));
    expect(stored.sessions).toEqual(expected.sessions.map(varyingOf));
    expect(stored.agents).toEqual(expected.agents);
    expect(stored.tools).toEqual(expected.tools);
  },
);
