import { expect, test } from 'vitest';
import { AdapterCalls, type AdapterOptions } from '../src/adapter/index.ts';
import { Sink } from './sink.ts';
import { createRecorder } from './test-recorder.ts';

/** Makes a call with these options, and tells what was recorded and what `onError` was told. */
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
])('%s that returns what cannot be used counts as not given, and that is told', async (option, value) => {
  const { isCovered, told, event } = await callWith({ [option]: value });
  expect(isCovered).toBe(true);
  expect(event).toMatchObject(asNotGiven);
  expect(told).toEqual([`The adapter's option ${option} returned what cannot be used.`]);
});

test('an empty session or name is left to the framework: it would be one for everybody', async () => {
  const empty = await callWith({ sessionId: '' });
  expect(empty.event).toMatchObject(asNotGiven);
  const returned = await callWith({ sessionId: () => '', toolName: () => '' });
  expect(returned.event).toMatchObject(asNotGiven);
  expect(returned.told).toEqual([]);
});
