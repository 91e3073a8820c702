import { expect, test } from 'vitest';
import { AdapterCalls, type AdapterOptions } from '../src/adapter/index.ts';
import { Sink } from './sink.ts';
import { createRecorder } from './test-recorder.ts';

/** Makes a call with these options and returns the recorded event and the errors of `onError`. */
async function callWith(options: Record<string, unknown>) {
  const sink = await Sink.start();
  const told: string[] = [];
  const recorder = createRecorder(sink.url, { onError: ({ message }) => told.push(message) });
  const given = { recorder, ...options } as AdapterOptions;
  const calls = new AdapterCalls({ framework: 'tiny', sdk: 'tiny' }, given);
  const isCovered = calls.covers('search');
  await calls.run({ toolName: 'search', arguments: {}, sessionId: 'thread' }, () => 'found');
  await recorder.flush();
  const events = sink.stored.map(({ sessionId, payload }) => ({ sessionId, ...payload }));
  return { isCovered, told, event: events[0] };
}

const asNotGiven = { sessionId: 'thread', toolName: 'search', responseStatus: 200 };

test.each<[string, unknown]>([
  ['sessionId', () => 42],
  ['sessionId', async () => Promise.reject(new Error('too late'))],
  ['toolName', () => 42],
  ['responseStatus', () => '200'],
  ['responseStatus', () => 1e10],
  ['responseStatus', async () => Promise.reject(new Error('too late'))],
  ['include', async () => false],
  ['exclude', async () => true],
])('ignores and reports an invalid result of %s', async (option, value) => {
  const { isCovered, told, event } = await callWith({ [option]: value });
  expect(isCovered).toBe(true);
  expect(event).toMatchObject(asNotGiven);
  expect(told).toEqual([`The adapter's option ${option} returned what cannot be used.`]);
});

test("uses the framework's value for an empty session or name", async () => {
  const empty = await callWith({ sessionId: '' });
  expect(empty.event).toMatchObject(asNotGiven);
  const returned = await callWith({ sessionId: () => '', toolName: () => '' });
  expect(returned.event).toMatchObject(asNotGiven);
  expect(returned.told).toEqual([]);
});

test("excludes the framework's own tools unless include lists the exact name", () => {
  const covers = (include?: AdapterOptions['include']) =>
    new AdapterCalls(
      { framework: 'tiny', sdk: 'tiny', internalTools: ['final_answer'] },
      { recorder: createRecorder('http://127.0.0.1:9'), include },
    ).covers('final_answer');
  expect(covers()).toBe(false);
  expect(covers([/./])).toBe(false);
  expect(covers(() => true)).toBe(false);
  expect(covers(['search', 'final_answer'])).toBe(true);
});
