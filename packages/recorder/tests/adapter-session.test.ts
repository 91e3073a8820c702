import { expect, test } from 'vitest';
import { AdapterCalls } from '../src/adapter/index.ts';
import { Sink } from './sink.ts';
import { createRecorder } from './test-recorder.ts';

test('uses the session of the outer call for an inner call without one', async () => {
  const sink = await Sink.start();
  const recorder = createRecorder(sink.url);
  const outer = new AdapterCalls({ framework: 'outer', sdk: 'outer' }, { recorder });
  const inner = new AdapterCalls({ framework: 'inner', sdk: 'inner' }, { recorder });
  await outer.run({ toolName: 'ask', arguments: {}, sessionId: 'thread' }, async () => {
    await inner.run({ toolName: 'search', arguments: {} }, () => 'found');
    await inner.run({ toolName: 'look', arguments: {}, sessionId: 'its own' }, () => 'seen');
  });
  await recorder.flush();
  const sessions = sink.stored.map(({ sessionId, payload }) => `${payload.toolName}: ${sessionId}`);
  expect(sessions.toSorted()).toEqual(['ask: thread', 'look: its own', 'search: thread']);
});
