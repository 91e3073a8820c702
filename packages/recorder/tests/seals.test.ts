import { Actlog } from '@actlog/client';
import { checkSeals, parseSeal, type SessionSeal } from '@actlog/log';
import { startServer } from '@actlog/server';
import { expect, onTestFinished, test } from 'vitest';
import type { Recorder, RecorderOptions } from '../src/index.ts';
import { AgentProcess, drain } from './agent-process.ts';
import { temporaryFolder } from './journal-fixture.ts';
import { Sink } from './sink.ts';
import { createRecorder } from './test-recorder.ts';

/** Starts the real service, and a recorder that seals its sessions. */
async function start(options: RecorderOptions = {}) {
  const server = await startServer();
  onTestFinished(() => server.close());
  const client = new Actlog({ apiKey: server.apiKey, baseURL: server.url });
  return { client, recorder: createRecorder(server.url, { client, seals: true, ...options }) };
}

async function calls(recorder: Recorder, sessionId: string, count: number): Promise<void> {
  for (let number = 0; number < count; number += 1) {
    await recorder.toolCall({ toolName: 'search', arguments: { number }, sessionId }, () => 'found');
  }
}

/** Returns the ids of a session's events in the record, and its seals. */
async function sealedSession(client: Actlog, sessionId: string) {
  const eventIds: string[] = [];
  const seals: SessionSeal[] = [];
  for await (const { eventId, category, payload } of client.sessions.events(sessionId)) {
    if (category === 'session_seal') seals.push(parseSeal(payload));
    else eventIds.push(eventId ?? '');
  }
  return { eventIds, seals };
}

test('seals every session when the recorder is closed', async () => {
  const { client, recorder } = await start();
  await calls(recorder, 'a', 3);
  await calls(recorder, 'b', 1);
  await recorder.close();
  for (const [sessionId, sealed] of [
    ['a', 3],
    ['b', 1],
  ] as const) {
    const { eventIds, seals } = await sealedSession(client, sessionId);
    expect(checkSeals(eventIds, seals)).toEqual({ sealed, unsealed: [], findings: [] });
  }
});

test('names an event that left the agent and is not in the record', async () => {
  const { client, recorder } = await start();
  await calls(recorder, 'a', 4);
  await recorder.close();
  const { eventIds, seals } = await sealedSession(client, 'a');
  const [, missing] = eventIds;
  expect(checkSeals(eventIds.toSpliced(1, 1), seals).findings).toMatchObject([
    { code: 'event-missing', sequence: 2, eventId: missing },
  ]);
});

test('seals after a hundred events and when it is flushed, each event once', async () => {
  const { client, recorder } = await start();
  await calls(recorder, 'a', 103);
  await recorder.flush();
  await recorder.flush();
  await calls(recorder, 'a', 1);
  await recorder.close();
  const { eventIds, seals } = await sealedSession(client, 'a');
  expect(seals.map((seal) => seal.eventIds.length)).toEqual([100, 3, 1]);
  expect(seals.map(({ isLast }) => isLast)).toEqual([false, false, true]);
  expect(checkSeals(eventIds, seals)).toEqual({ sealed: 104, unsealed: [], findings: [] });
});

test('seals the events about a call too', async () => {
  const { client, recorder } = await start({ origins: true });
  recorder.noteText('user', 'find the invoice of ACME Industries', 'a');
  const call = { toolName: 'search', arguments: { query: 'ACME Industries' }, sessionId: 'a' };
  await recorder.toolCall({ ...call, subagent: 'researcher' }, () => 'found');
  await recorder.close();
  const { eventIds, seals } = await sealedSession(client, 'a');
  expect(eventIds).toHaveLength(3);
  expect(checkSeals(eventIds, seals)).toEqual({ sealed: 3, unsealed: [], findings: [] });
});

test('gives a session its last seal when a thousand others have had events since', async () => {
  const sink = await Sink.start();
  const recorder = createRecorder(sink.url, { seals: true });
  for (let number = 0; number <= 1000; number += 1) await calls(recorder, `s${number}`, 1);
  await recorder.flush();
  const last = sink.requests.filter(
    ({ body }) => body.category === 'session_seal' && parseSeal(body.payload).isLast,
  );
  expect(last.map(({ body }) => body.sessionId)).toEqual(['s0']);
});

test('sends no seals unless they are turned on, also by ACTLOG_SEALS', async () => {
  const sink = await Sink.start();
  const categories = async (options: RecorderOptions) => {
    const recorder = createRecorder(sink.url, options);
    await calls(recorder, 'a', 1);
    await recorder.close();
    return sink.requests.splice(0).map(({ body }) => body.category);
  };
  expect(await categories({})).toEqual(['tool_api']);
  process.env.ACTLOG_SEALS = 'true';
  onTestFinished(() => {
    delete process.env.ACTLOG_SEALS;
  });
  expect(await categories({})).toEqual(['tool_api', 'session_seal']);
  expect(await categories({ seals: false })).toEqual(['tool_api']);
});

test('sends no more seals to a service that rejects them, and says so once', async () => {
  const rejected = {
    status: 400,
    body: { error: { code: 'VALIDATION_ERROR', message: 'unknown category' } },
  };
  const sink = await Sink.start(({ body }) => (body.category === 'session_seal' ? rejected : undefined));
  const errors: string[] = [];
  const recorder = createRecorder(sink.url, { seals: true, onError: ({ message }) => errors.push(message) });
  await calls(recorder, 'a', 1);
  await recorder.flush();
  await calls(recorder, 'a', 1);
  expect(await recorder.close()).toMatchObject({ deadLettered: 0, dropped: 0 });
  expect(sink.requests.filter(({ body }) => body.category === 'session_seal')).toHaveLength(1);
  expect(errors).toEqual([expect.stringContaining('seals of sessions')]);
});

test.each(['natural', 'exit'])('seals sessions at the end of the process: %s', async (mode) => {
  const sink = await Sink.start();
  const spool = temporaryFolder();
  const env = { MODE: mode, COUNT: '20', SINK_URL: sink.url, SPOOL: spool, ACTLOG_SEALS: 'true' };
  await new AgentProcess(env).end();
  await drain(sink, spool);
  const seals = sink.stored
    .filter(({ category }) => category === 'session_seal')
    .map(({ payload }) => parseSeal(payload));
  const sealed = seals.flatMap(({ eventIds }) => eventIds);
  const others = sink.stored.filter(({ category }) => category !== 'session_seal');
  expect(sealed.toSorted()).toEqual(others.map(({ eventId }) => eventId).toSorted());
  expect(new Set(seals.map(({ isLast }) => isLast))).toEqual(new Set([true]));
});
