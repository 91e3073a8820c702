import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { SessionMarks, SessionPlace } from '@actlog/protocol';
import { expect, test } from 'vitest';
import { withTestDatabase } from './test-database.ts';
import { atTestEnd } from './test-end.ts';
import { type TestServer, testServer } from './test-server.ts';

const startMs = Date.UTC(2026, 10, 20, 9);

async function server(): Promise<TestServer> {
  const folder = mkdtempSync(join(tmpdir(), 'actlog-marks-'));
  atTestEnd(async () => rmSync(folder, { recursive: true }));
  return testServer(await withTestDatabase({ database: join(folder, 'actlog.db') }));
}

async function marksOf(running: TestServer, id: string): Promise<Response> {
  return fetch(`${running.server.url}/server/v1/sessions/${encodeURIComponent(id)}/marks`, {
    headers: { authorization: `Bearer ${running.apiKey}` },
  });
}

function call(second: number, toolName: string, responseStatus = 200) {
  return {
    sessionId: 'incident',
    sourceTimestamp: new Date(startMs + second * 1000).toISOString(),
    payload: { toolName, argumentsHash: `sha256:${second}`, responseStatus },
  };
}

test('counts the events of a session that lasts for months', async () => {
  const running = await server();
  const months = 100 * 86_400;
  await running.record(call(0, 'get_order'), call(months, 'get_order'));
  const response = await marksOf(running, 'incident');
  expect(response.status).toBe(200);
  const { buckets } = (await response.json()) as SessionMarks;
  expect(buckets.map(({ at, events }) => ({ at, events }))).toEqual([
    { at: new Date(startMs).toISOString(), events: 1 },
    { at: expect.any(String), events: 1 },
  ]);
});

test('counts what stands out in all events of a session, by time', async () => {
  const running = await server();
  const quiet = Array.from({ length: 400 }, (_, index) => call(index, 'get_order'));
  for (let at = 0; at < quiet.length; at += 100) await running.record(...quiet.slice(at, at + 100));
  await running.record(
    call(399, 'delete_user', 500),
    call(399, 'delete_user', 503),
    call(200, 'pay', 403),
    // Late: the events of a session arrive in any order.
    call(1, 'search', 404),
  );
  const response = await marksOf(running, 'incident');
  expect(response.status).toBe(200);
  const { eventCount, counts, tools, isComplete, bucketMs, buckets, notable } =
    (await response.json()) as SessionMarks;
  expect(eventCount).toBe(404);
  expect(counts).toMatchObject({ errors: 3, denials: 1, held: 0 });
  // The denied payment did not run.
  expect(tools).toEqual([
    { toolName: 'get_order', calls: 400 },
    { toolName: 'delete_user', calls: 2 },
    { toolName: 'search', calls: 1 },
    { toolName: 'pay', calls: 0 },
  ]);
  expect(isComplete).toBe(true);
  expect(buckets.length).toBeLessThanOrEqual(240);
  expect(buckets.reduce((sum, { events }) => sum + events, 0)).toBe(404);
  const last = buckets.at(-1);
  expect(last).toMatchObject({ errors: 2, denials: 0 });
  expect(Date.parse(last?.at ?? '')).toBeGreaterThan(startMs + 399_000 - bucketMs);
  expect(buckets.find(({ denials }) => denials === 1)?.at).toBe(
    new Date(startMs + Math.floor(200_000 / bucketMs) * bucketMs).toISOString(),
  );
  expect(notable.map(({ payload }) => payload.toolName)).toEqual(
    expect.arrayContaining(['search', 'pay', 'delete_user']),
  );
});

test('counts a denied action once: its decision and the call that reports it', async () => {
  const running = await server();
  await running.policy({ effect: 'deny', match: { tools: ['drop_table'] } });
  await running.policy({ effect: 'require_approval', match: { tools: ['pay'] } });
  const check = (toolName: string) =>
    running.check({
      agentId: 'mailer',
      sessionId: 'incident',
      action: { toolName, argumentsHash: 'sha256:cc' },
    });
  await check('drop_table');
  await running.record(call(0, 'drop_table', 403));
  // The recorder checks a held action again while it waits.
  for (let times = 0; times < 3; times += 1) await check('pay');
  const { counts, notable } = (await (await marksOf(running, 'incident')).json()) as SessionMarks;
  expect(counts).toMatchObject({ denials: 1, held: 1 });
  expect(notable.find(({ payload }) => payload.decision === 'deny')?.payload.policyName).toBeTypeOf('string');
});

test('says what the session did, and names the events that raise its risk', async () => {
  const running = await server();
  const tools = ['fetch_web_page', 'list_customers', 'send_email', 'delete_sent_mail'];
  await running.record(...tools.map((tool, index) => call(index, tool)));
  const { sentence, counts, buckets } = (await (await marksOf(running, 'incident')).json()) as SessionMarks;
  expect(sentence).toBe('Read a web page, then listed customers, sent an email and deleted sent mail.');
  expect(counts.risky).toBeGreaterThan(0);
  expect(buckets.reduce((sum, { risky }) => sum + risky, 0)).toBe(counts.risky);
});

test('responds with 404 for an unknown session', async () => {
  const running = await server();
  expect((await marksOf(running, 'none')).status).toBe(404);
});

test('finds the page of a time or an event, some events before it', async () => {
  const running = await server();
  const quiet = Array.from({ length: 200 }, (_, index) => call(index, 'get_order'));
  for (let at = 0; at < quiet.length; at += 100) await running.record(...quiet.slice(at, at + 100));
  const place = async (query: string) => {
    const response = await fetch(`${running.server.url}/server/v1/sessions/incident/place?${query}`, {
      headers: { authorization: `Bearer ${running.apiKey}` },
    });
    return { status: response.status, ...((await response.json()) as Partial<SessionPlace>) };
  };
  const at = (second: number) => `at=${new Date(startMs + second * 1000).toISOString()}`;
  const { before, cursor } = await place(at(150));
  expect(before).toBe(100);
  const page = await running.ok('sessions.get', {
    id: 'incident',
    query: { cursor: cursor as string, limit: 51 },
  });
  expect(page.events.map(({ payload }) => payload.argumentsHash)).toEqual(
    Array.from({ length: 51 }, (_, index) => `sha256:${100 + index}`),
  );
  expect(await place(`event=${page.events[50]?.eventId}`)).toMatchObject({ status: 200, before: 100 });
  expect(await place(at(20))).toMatchObject({ before: 0, cursor: null });
  expect(await place(at(10_000))).toMatchObject({ before: 150 });
  expect((await place('event=none')).status).toBe(404);
  expect((await place('')).status).toBe(400);
});
