import { readdirSync } from 'node:fs';
import { expect, test, vi } from 'vitest';
import type { DroppedEvent, WhenFull } from '../src/index.ts';
import { temporaryFolder } from './journal-fixture.ts';
import { Sink } from './sink.ts';
import { createRecorder, recordMany } from './test-recorder.ts';

/** Starts a service that breaks every connection and keeps its port, so that nobody else can use it. */
function downSink(): Promise<Sink> {
  return Sink.start(() => ({ fault: 'reset' }));
}

/** Makes the service work again. */
function repair(sink: Sink): void {
  sink.respond = () => undefined;
}

test.each<[WhenFull, number[], number[]]>([
  ['drop-oldest', [0, 1, 2, 3, 4], [5, 6, 7, 8, 9]],
  ['drop-newest', [5, 6, 7, 8, 9], [0, 1, 2, 3, 4]],
  ['block', [5, 6, 7, 8, 9], [0, 1, 2, 3, 4]],
])('in memory, %s reports each lost event', async (whenFull, lost, kept) => {
  const sink = await downSink();
  const dropped: DroppedEvent[] = [];
  const recorder = createRecorder(sink.url, {
    whenFull,
    spool: false,
    maxQueuedEvents: 5,
    onDrop: (event) => dropped.push(event),
  });
  const ids = recordMany(recorder, 10);
  expect(dropped.map(({ event, reason }) => [event.eventId, reason])).toEqual(
    lost.map((index) => [ids[index], 'full']),
  );
  expect(recorder.stats()).toMatchObject({
    pending: 5,
    spooled: 0,
    dropped: 5,
    droppedByReason: { full: 5 },
  });
  repair(sink);
  expect(await recorder.flush()).toMatchObject({ delivered: 5, pending: 0, dropped: 5 });
  expect(sink.storedIds.toSorted()).toEqual(kept.map((index) => ids[index]).toSorted());
});

test.each<WhenFull>(['drop-oldest', 'drop-newest'])(
  'drops errors and denials last with %s',
  async (whenFull) => {
    const sink = await downSink();
    const dropped: string[] = [];
    const recorder = createRecorder(sink.url, {
      whenFull,
      spool: false,
      maxQueuedEvents: 4,
      onDrop: ({ event }) => dropped.push(event.eventId),
    });
    const ids = [200, 403, 200, 500, 403, 200, 500].map((responseStatus) =>
      recorder.record({ toolName: 'tool', argumentsHash: 'sha256:0', responseStatus }),
    );
    // Two ordinary events make room for two important ones; there is no room for the third.
    expect(new Set(dropped)).toEqual(new Set([ids[0], ids[2], ids[5]]));
    repair(sink);
    await recorder.flush();
    expect(sink.storedIds.toSorted()).toEqual([ids[1], ids[3], ids[4], ids[6]].toSorted());
  },
);

test('drops and reports only the oldest ordinary events when the journal is full', async () => {
  const sink = await downSink();
  const dropped: string[] = [];
  const recorder = createRecorder(sink.url, {
    maxSpoolBytes: 64 * 1024,
    maxQueuedEvents: 50,
    onDrop: ({ event }) => dropped.push(event.eventId),
  });
  const ids = Array.from({ length: 600 }, (_, index) =>
    recorder.record({
      toolName: 'tool',
      argumentsHash: 'sha256:0',
      responseStatus: index % 20 === 0 ? 500 : 200,
      sessionId: `session ${index % 3}`,
    }),
  );
  expect(recorder.stats().spoolBytes).toBeLessThan(66 * 1024);
  expect(dropped.length).toBeGreaterThan(300);
  repair(sink);
  const { delivered } = await recorder.flush();
  expect(delivered).toBe(600 - dropped.length);
  expect([...sink.storedIds, ...dropped].toSorted()).toEqual(ids.toSorted());
  const importantIds = ids.filter((_, index) => index % 20 === 0);
  expect(sink.storedIds).toEqual(expect.arrayContaining(importantIds));
});

test('block delays a tool until there is room', async () => {
  const sink = await downSink();
  const recorder = createRecorder(sink.url, { whenFull: 'block', spool: false, maxQueuedEvents: 3 });
  recordMany(recorder, 3);
  const order: string[] = [];
  const call = recorder
    .toolCall({ toolName: 'tool', arguments: {} }, () => order.push('ran'))
    .then(() => order.push('done'));
  await new Promise((resolve) => setImmediate(resolve));
  expect(order).toEqual([]);
  order.push('up');
  repair(sink);
  await call;
  expect(order).toEqual(['up', 'ran', 'done']);
  expect(await recorder.flush()).toMatchObject({ delivered: 4, dropped: 0 });
});

test('block reserves room for the events of concurrent calls', async () => {
  const sink = await Sink.start();
  const recorder = createRecorder(sink.url, { whenFull: 'block', spool: false, maxQueuedEvents: 3 });
  let running = 0;
  let most = 0;
  const calls = Array.from({ length: 30 }, (_, index) =>
    recorder.toolCall(
      // Some record nothing, and some fail.
      {
        toolName: 'tool',
        arguments: { index },
        responseStatusOf: () => (index % 5 === 0 ? null : undefined),
      },
      async () => {
        running += 1;
        most = Math.max(most, running);
        await new Promise((resolve) => setImmediate(resolve));
        running -= 1;
        if (index % 5 === 1) throw new Error('of the tool');
      },
    ),
  );
  await Promise.allSettled(calls);
  expect(most).toBeLessThanOrEqual(3);
  expect(await recorder.flush()).toMatchObject({ delivered: 24, dropped: 0 });
});

test('block loses no events of concurrent calls with a journal', async () => {
  const sink = await Sink.start();
  const recorder = createRecorder(sink.url, { whenFull: 'block', maxSpoolBytes: 64 * 1024 });
  const calls = Array.from({ length: 300 }, (_, index) =>
    recorder.toolCall(
      { toolName: 'tool', arguments: { index }, sessionId: `session ${index % 20}` },
      () => new Promise((resolve) => setImmediate(resolve)),
    ),
  );
  await Promise.all(calls);
  expect(await recorder.flush()).toMatchObject({ delivered: 300, dropped: 0 });
});

test('block waits at most blockTimeoutMs', async () => {
  const sink = await downSink();
  const recorder = createRecorder(sink.url, {
    whenFull: 'block',
    blockTimeoutMs: 50,
    spool: false,
    maxQueuedEvents: 1,
  });
  recordMany(recorder, 1);
  expect(await recorder.toolCall({ toolName: 'tool', arguments: {} }, () => 'result')).toBe('result');
  expect(recorder.stats()).toMatchObject({ pending: 1, droppedByReason: { full: 1 } });
});

test('writes events recorded after close to disk for the next recorder', async () => {
  const sink = await Sink.start();
  const spoolDir = temporaryFolder();
  const onError = vi.fn();
  const recorder = createRecorder(sink.url, { spoolDir, onError });
  recordMany(recorder, 3);
  expect(await recorder.close()).toMatchObject({ delivered: 3, pending: 0 });
  const ids = recordMany(recorder, 4, 1);
  expect(recorder.stats()).toMatchObject({ pending: 4, spooled: 4, dropped: 0 });
  expect(onError).toHaveBeenCalledWith(
    expect.objectContaining({
      message: expect.stringMatching(/recorded after close\(\).+last call has ended/),
    }),
  );
  await new Promise((resolve) => setImmediate(resolve));
  const released = readdirSync(spoolDir, { recursive: true }).filter((name) =>
    String(name).endsWith('.released'),
  );
  expect(released).toHaveLength(1);
  const next = createRecorder(sink.url, { spoolDir });
  expect(await next.close()).toMatchObject({ delivered: 4, pending: 0 });
  expect(sink.storedIds.slice(3)).toEqual(ids);
});

test('reports events recorded after close as lost without a journal', async () => {
  const sink = await Sink.start();
  const dropped: DroppedEvent[] = [];
  const recorder = createRecorder(sink.url, { spool: false, onDrop: (event) => dropped.push(event) });
  await recorder.close();
  const [id] = recordMany(recorder, 1);
  expect(dropped).toEqual([{ event: expect.objectContaining({ eventId: id }), reason: 'closed' }]);
});
