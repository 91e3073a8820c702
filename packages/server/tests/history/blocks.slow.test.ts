import { randomUUID } from 'node:crypto';
import { expect, test } from 'vitest';
import { blockToken, ClickHouse, type HistoryRow, historySetting } from '../../src/history/click-house.ts';
import { atTestEnd } from '../test-end.ts';
import { ClickHouse as TestClickHouse } from './clickhouse.ts';

const weekMs = 7 * 24 * 3_600_000;
const startMs = Date.UTC(2026, 10, 2);

/** Returns a block of events of three weeks of receipt, so of three partitions. */
function blockOf(first: number, count: number): HistoryRow[] {
  return Array.from({ length: count }, (_, at) => ({
    tenant_id: 1,
    place: (startMs + at) * 32,
    event_id: randomUUID(),
    session_id: `s${at % 3}`,
    agent_id: 'billing-agent',
    source_ms: startMs + at,
    received_ms: startMs + (at % 3) * weekMs,
    log_index: first + at,
    category: 'tool_api',
    tool_name: 'refund',
    outcome: 'ok',
    arguments_hash: 'sha256:aa',
    source_timestamp: new Date(startMs + at).toISOString(),
    schema_version: '1.0',
    identity: '',
    traceparent: '',
    payload: '{"toolName":"refund"}',
  }));
}

function historyOf(server: TestClickHouse, deployment = 'first'): ClickHouse {
  const history = new ClickHouse({
    address: historySetting.parse(server.address),
    deployment: async () => deployment,
  });
  atTestEnd(() => history.close());
  return history;
}

const insert = (history: ClickHouse, rows: readonly HistoryRow[]) => {
  const [first, last] = [rows[0]?.log_index ?? 0, rows.at(-1)?.log_index ?? 0];
  return history.insert(rows, blockToken(1, first, last, rows), AbortSignal.timeout(30_000));
};

const stored = async (server: TestClickHouse) =>
  (
    await server.rows<{ rows: number; events: number }>(
      'select count() as rows, uniqExact(event_id) as events from actlog_events',
    )
  )[0];

test('stores a block once whose response was lost, and once more after the process was killed', async () => {
  const server = await TestClickHouse.start();
  const history = historyOf(server);
  const block = blockOf(0, 900);
  server.fateOf = ({ sql }) => (sql.startsWith('INSERT') ? 'response lost' : 'runs');
  await expect(insert(history, block)).rejects.toMatchObject({ reason: 'unreachable' });
  expect(await stored(server)).toEqual({ rows: 900, events: 900 });
  server.fateOf = () => 'runs';
  await insert(history, block);
  expect(await stored(server)).toEqual({ rows: 900, events: 900 });
  await server.kill();
  await server.run();
  await insert(history, block);
  expect(await stored(server)).toEqual({ rows: 900, events: 900 });
});

test('completes a block of which only some partitions were written', async () => {
  const server = await TestClickHouse.start();
  const history = historyOf(server);
  const block = blockOf(0, 90);
  const token = blockToken(1, 0, 89, block);
  const ofFirstWeek = block.filter(({ received_ms: ms }) => ms === startMs);
  await history.insert(ofFirstWeek, token, AbortSignal.timeout(30_000));
  expect(await stored(server)).toEqual({ rows: 30, events: 30 });
  await insert(history, block);
  expect(await stored(server)).toEqual({ rows: 90, events: 90 });
});

test('keeps one row of an event that two different blocks have, when it merges', async () => {
  const server = await TestClickHouse.start();
  const history = historyOf(server);
  const block = blockOf(0, 90);
  await insert(history, block);
  await insert(history, block.slice(30));
  expect(await stored(server)).toEqual({ rows: 150, events: 90 });
  await server.command('optimize table actlog_events final');
  expect(await stored(server)).toEqual({ rows: 90, events: 90 });
});

test('erases entries, which a repeated block does not bring back, and removes them from the disk', async () => {
  const server = await TestClickHouse.start();
  const history = historyOf(server);
  const block = blockOf(0, 90);
  await insert(history, block);
  await history.eraseEntries(1, [
    [0, 9],
    [50, 50],
  ]);
  expect(await stored(server)).toEqual({ rows: 79, events: 79 });
  await insert(history, block);
  expect(await stored(server)).toEqual({ rows: 79, events: 79 });
  await history.applyDeletions();
  const parts = await server.rows<{ rows: number }>(
    `select sum(rows) as rows from system.parts where table = 'actlog_events' and active`,
  );
  expect(parts).toEqual([{ rows: 79 }]);
  await server.kill();
  await server.run();
  await insert(history, block);
  expect(await stored(server)).toEqual({ rows: 79, events: 79 });
});

test('refuses the database of another deployment, and names it without the password', async () => {
  const server = await TestClickHouse.start();
  await insert(historyOf(server), blockOf(0, 1));
  const refused = await insert(historyOf(server, 'second'), blockOf(0, 1)).catch((error: Error) => error);
  expect(refused).toMatchObject({
    reason: 'refused',
    message: 'the database "history" of ClickHouse has the history of another deployment; use one of its own',
  });
  const wrong = historySetting.parse(server.address.replace('the%20password', 'wrong%20one'));
  const other = new ClickHouse({ address: wrong, deployment: async () => 'first' });
  await expect(insert(other, blockOf(0, 1))).rejects.toMatchObject({
    reason: 'refused',
    message: expect.stringMatching(/^127\.0\.0\.1:\d+ responded with error 516 \(AUTHENTICATION_FAILED\)$/),
  });
});

test('keeps a block for later while ClickHouse has too many parts', async () => {
  const server = await TestClickHouse.start();
  const history = historyOf(server);
  await insert(history, blockOf(0, 3));
  await server.command('alter table actlog_events modify setting parts_to_throw_insert = 1');
  await expect(insert(history, blockOf(3, 3))).rejects.toMatchObject({
    reason: 'busy',
    message: expect.stringMatching(/responded with error 252 \(TOO_MANY_PARTS\)$/),
  });
  await server.command('alter table actlog_events reset setting parts_to_throw_insert');
  await insert(history, blockOf(3, 3));
  expect(await stored(server)).toEqual({ rows: 6, events: 6 });
});

test('erases thousands of ranges, with indexes as large as they can be', async () => {
  const server = await TestClickHouse.start();
  const history = historyOf(server);
  const first = Number.MAX_SAFE_INTEGER - 60_000;
  await insert(history, blockOf(first, 60));
  const ranges = Array.from({ length: 6000 }, (_, at) => [first + 2 * at, first + 2 * at] as const);
  await history.eraseEntries(1, ranges);
  expect(await stored(server)).toEqual({ rows: 30, events: 30 });
});

test('takes no part of a response for all of it', async () => {
  const server = await TestClickHouse.start();
  const history = historyOf(server);
  await insert(history, blockOf(0, 3000));
  server.fateOf = () => 'response cut';
  await expect(history.rows('select * from {events}')).rejects.toMatchObject({ reason: 'unreachable' });
  server.fateOf = () => 'runs';
  expect(await history.rows('select * from {events}')).toHaveLength(3000);
  // ClickHouse begins a response of status 200 before it knows whether the query succeeds, unless it is told to wait.
  const reads = server.queries.filter(({ sql }) => sql.startsWith('select * from actlog_events'));
  expect(reads.map(({ settings }) => settings.get('wait_end_of_query'))).toEqual(['1', '1']);
});
