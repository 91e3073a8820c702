import { AsyncLocalStorage } from 'node:async_hooks';
import { appendFileSync, readdirSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import { expect, onTestFinished, test, vi } from 'vitest';
import { useFakeTime, useRealTime } from '../../tests/fake-time.ts';
import {
  breakableFiles,
  endOwners,
  noProcess,
  numberedEvent,
  numberOf,
  openTestJournal,
  recoverAll,
  temporaryFolder,
} from '../../tests/journal-fixture.ts';
import type { EventSender, SendResult } from '../delivery/send-result.ts';
import { encodeSettled } from '../journal/segment.ts';
import { FactRefusals } from '../reporting/fact-refusals.ts';
import { Counters, type DroppedEvent, Reporter } from '../reporting/reporter.ts';
import { Outbox, type WhenFull } from './outbox.ts';

interface StartOptions {
  readonly sender?: EventSender;
  readonly root?: string;
  readonly maxBytes?: number;
  readonly segmentBytes?: number;
  readonly maxQueuedEvents?: number;
  readonly whenFull?: WhenFull;
  readonly isInMemory?: boolean;
  readonly onDrop?: () => void;
}

/** Creates an outbox whose disk can be filled, and whose service is initially down. */
function start(options: StartOptions = {}) {
  const disk = { isFull: false, isUnreadable: false };
  const files = breakableFiles((name) => {
    if (disk.isUnreadable && name === 'openForRead') throw new Error('EIO');
    if (disk.isFull && ['append', 'openForAppend'].includes(name)) throw new Error('ENOSPC');
  });
  const root = options.root ?? temporaryFolder();
  const { maxBytes = 1_000_000, segmentBytes = 100_000 } = options;
  const { journal } = openTestJournal(root, { files, maxBytes, segmentBytes });
  const counters = new Counters();
  const dropped: DroppedEvent[] = [];
  const onDrop = (event: DroppedEvent): void => {
    dropped.push(event);
    options.onDrop?.();
  };
  const service = { isUp: false };
  const sent: number[] = [];
  const scripted: EventSender = {
    send: (body, _headers, done) => {
      if (service.isUp) sent.push(Number(JSON.parse(body).eventId.slice(-12)));
      setImmediate(done, service.isUp ? { status: 202 } : { error: new Error('down') });
    },
    abort: () => {},
  };
  const reporter = new Reporter({ onDrop, onError: () => {} }, counters);
  const outbox = new Outbox({
    journal: options.isInMemory ? undefined : journal,
    deadLetters: undefined,
    connect: async () => options.sender ?? scripted,
    headersFor: () => ({}),
    parseRetryAfter: () => undefined,
    maxConcurrency: 16,
    baseURL: 'http://127.0.0.1:8787',
    maxQueuedEvents: options.maxQueuedEvents ?? 1_000,
    whenFull: options.whenFull ?? 'drop-oldest',
    counters,
    reporter,
    refusals: new FactRefusals(reporter),
  });
  onTestFinished(() => outbox.close());
  return { counters, disk, dropped, journal, outbox, root, sent, service };
}

/** Returns the numbers of lost events, with the reasons. */
function namesOf(dropped: readonly DroppedEvent[]): string[] {
  return dropped.map(({ event, reason }) => `${Number(event.eventId.slice(-12))} ${reason}`);
}

test('writes events from memory when a full disk has room again', () => {
  const { disk, outbox } = start();
  disk.isFull = true;
  for (let number = 0; number < 10; number += 1) outbox.add(numberedEvent(number), 0);
  expect([outbox.pending, outbox.spooled]).toEqual([10, 0]);
  disk.isFull = false;
  outbox.add(numberedEvent(10), 10_000);
  expect([outbox.pending, outbox.spooled]).toEqual([11, 11]);
});

test('reports only events in memory as lost on close', () => {
  const { disk, outbox, dropped } = start();
  outbox.add(numberedEvent(1), 0);
  disk.isFull = true;
  outbox.add(numberedEvent(2), 0);
  outbox.close();
  expect(dropped.map(({ event, reason }) => [event.eventId.slice(-1), reason])).toEqual([['2', 'closed']]);
  expect([outbox.pending, outbox.spooled]).toEqual([1, 1]);
});

test('writes events to disk on close, even if the folder was removed', () => {
  const { outbox, root } = start({ maxQueuedEvents: 5 });
  for (let number = 0; number < 8; number += 1) outbox.add(numberedEvent(number), 0);
  for (const name of readdirSync(root)) rmSync(join(root, name), { recursive: true });
  outbox.close();
  expect([outbox.pending, outbox.spooled]).toEqual([5, 5]);
  expect(recoverAll(root).events.map(numberOf)).toEqual([0, 1, 2, 3, 4]);
});

test('counts an event in flight that cannot be rewritten as only in memory', () => {
  const { disk, journal, outbox } = start();
  const event = numberedEvent(1);
  outbox.add(event, 0);
  event.inFlight = true;
  disk.isFull = true;
  expect(journal.evictOldest(() => false, 0)).toEqual([]);
  expect([outbox.pending, outbox.spooled]).toEqual([1, 0]);
});

test('does not leak AsyncLocalStorage contexts into delivery', async () => {
  const storage = new AsyncLocalStorage<string>();
  const { promise, resolve } = Promise.withResolvers<string | undefined>();
  const { outbox } = start({
    sender: { send: () => resolve(storage.getStore()), abort: () => {} },
  });
  storage.run('a request', () => outbox.add(numberedEvent(1), 0));
  expect(await promise).toBe(undefined);
});

test('accepts events in a recovered journal although memory is full', () => {
  const { disk, dropped, outbox } = start({ whenFull: 'drop-newest', maxQueuedEvents: 5 });
  for (let number = 0; number < 10; number += 1) outbox.add(numberedEvent(number), 0);
  disk.isFull = true;
  for (const number of [10, 11, 12]) outbox.add(numberedEvent(number), 10_000);
  expect(namesOf(dropped)).toEqual(['11 full', '12 full']);
  // One retry per pause finds that it still fails.
  outbox.add(numberedEvent(13), 20_000);
  expect(namesOf(dropped)).toEqual(['11 full', '12 full', '13 full']);
  disk.isFull = false;
  for (const number of [14, 15]) outbox.add(numberedEvent(number), 30_000);
  expect([dropped.length, outbox.pending, outbox.spooled]).toEqual([3, 13, 13]);
});

test('drops events on disk for errors when disk and memory are full', async () => {
  const { disk, dropped, outbox, sent, service } = start({ maxQueuedEvents: 5 });
  for (let number = 0; number < 10; number += 1) outbox.add(numberedEvent(number), 0);
  disk.isFull = true;
  outbox.add(numberedEvent(10), 10_000);
  for (const number of [11, 12, 13]) outbox.add(numberedEvent(number, { status: 500 }), 10_000);
  outbox.add(numberedEvent(14), 10_000);
  expect(namesOf(dropped)).toEqual(['10 full', '0 full', '1 full', '2 full', '14 full']);
  disk.isFull = false;
  service.isUp = true;
  expect(await outbox.flush(20_000)).toBe(true);
  expect(sent).toEqual([3, 4, 5, 6, 7, 8, 9, 11, 12, 13]);
});

test('writes events from memory before newer ones and sends them after older ones', async () => {
  const { disk, outbox, sent, service } = start({ maxQueuedEvents: 10 });
  for (let number = 0; number < 30; number += 1) outbox.add(numberedEvent(number), 0);
  disk.isFull = true;
  outbox.add(numberedEvent(30), 10_000);
  expect([outbox.pending, outbox.spooled]).toEqual([31, 30]);
  disk.isFull = false;
  for (const number of [31, 32]) outbox.add(numberedEvent(number), 20_000);
  expect([outbox.pending, outbox.spooled]).toEqual([33, 33]);
  service.isUp = true;
  expect(await outbox.flush(20_000)).toBe(true);
  expect(sent).toEqual(Array.from({ length: 33 }, (_, index) => index));
});

test('sends events in memory after unread ones on disk', async () => {
  const { disk, outbox, sent, service } = start({ maxQueuedEvents: 10 });
  for (let number = 0; number < 30; number += 1) outbox.add(numberedEvent(number), 0);
  disk.isFull = true;
  outbox.add(numberedEvent(30), Date.now());
  service.isUp = true;
  expect(await outbox.flush(20_000)).toBe(true);
  expect(sent).toEqual(Array.from({ length: 31 }, (_, index) => index));
});

test('keeps the order of events that were temporarily only in memory', () => {
  const { disk, outbox, root } = start();
  outbox.add(numberedEvent(0), 0);
  disk.isFull = true;
  outbox.add(numberedEvent(1), 10_000);
  outbox.add(numberedEvent(2, { status: 500 }), 10_000);
  disk.isFull = false;
  outbox.add(numberedEvent(3), 20_000);
  expect(recoverAll(root).events.map(numberOf)).toEqual([0, 1, 2, 3]);
});

test('ends a wait for room when the disk recovers, without another event', async () => {
  const { disk, outbox } = start({ whenFull: 'block', maxQueuedEvents: 5 });
  for (let number = 0; number < 10; number += 1) outbox.add(numberedEvent(number), Date.now());
  disk.isFull = true;
  outbox.add(numberedEvent(10), Date.now());
  disk.isFull = false;
  expect(await outbox.waitForRoom(undefined, 20_000)).toBeInstanceOf(Function);
  expect(outbox.spooled).toBe(11);
});

test('ends a wait for room when abandoned events turn out to be settled', async () => {
  const root = temporaryFolder();
  for (let process = 0; process < 5; process += 1) {
    const { journal } = openTestJournal(root, { segmentBytes: 100_000 });
    const events = Array.from({ length: 20 }, (_, number) => numberedEvent(process * 100 + number));
    for (const event of events) journal.append(event, true, Date.now());
    for (const event of events.slice(0, -1)) event.settle();
    journal.writeSettled();
    // The process is killed before it deletes the file, whose events are all settled.
    const [folder] = readdirSync(root).filter((name) => !name.includes(`-${noProcess}-`));
    const path = join(root, folder as string, '00000001.seg');
    appendFileSync(path, encodeSettled([events.at(-1)?.offset ?? 0]));
    endOwners(root);
  }
  const { journal, outbox } = start({ whenFull: 'block', root, maxBytes: 20_000 });
  expect(journal.room.isFull).toBe(true);
  const room = outbox.waitForRoom(undefined, 20_000);
  await outbox.flush(20_000);
  expect(await room).toBeInstanceOf(Function);
});

test('reserves room once, for the longest waiting caller, and can release it', async () => {
  const { outbox } = start({ whenFull: 'block', maxQueuedEvents: 2, isInMemory: true });
  const first = await outbox.waitForRoom(undefined, 0);
  expect([first, await outbox.waitForRoom(undefined, 0)]).toEqual([
    expect.any(Function),
    expect.any(Function),
  ]);
  expect(await outbox.waitForRoom(undefined, 0)).toBe(undefined);
  const order: number[] = [];
  const waiting = [1, 2].map(async (number) => {
    const giveBack = await outbox.waitForRoom(undefined, 20_000);
    order.push(number);
    return giveBack;
  });
  first?.();
  const second = await waiting[0];
  expect(order).toEqual([1]);
  second?.();
  await waiting[1];
  expect(order).toEqual([1, 2]);
});

test('keeps reserved room from others', async () => {
  const { dropped, outbox } = start({ whenFull: 'block', maxQueuedEvents: 1, isInMemory: true });
  const giveBack = await outbox.waitForRoom(undefined, 0);
  outbox.add(numberedEvent(1), Date.now());
  giveBack?.();
  outbox.add(numberedEvent(2), Date.now());
  expect([namesOf(dropped), outbox.pending]).toEqual([['1 full'], 1]);
});

test('does not wait for room after close', async () => {
  useFakeTime();
  try {
    const { outbox } = start();
    outbox.add(numberedEvent(1), 0);
    outbox.close();
    expect([await outbox.flush(30_000), await outbox.linger(30_000)]).toEqual([false, false]);
  } finally {
    useRealTime();
  }
});

test('drops the oldest events for a new one, however many were abandoned', () => {
  const root = temporaryFolder();
  for (let process = 0; process < 10; process += 1) {
    const { journal } = openTestJournal(root);
    for (let number = 0; number < 25; number += 1) {
      journal.append(numberedEvent(process * 100 + number), false, Date.now());
    }
    endOwners(root);
  }
  const { dropped, journal, outbox } = start({ root, maxBytes: 8_000, segmentBytes: 2_000 });
  outbox.add(numberedEvent(5_000), Date.now());
  expect(journal.bytes).toBeLessThan(8_500);
  expect(dropped.length).toBeGreaterThan(200);
  expect(namesOf(dropped)).not.toContain('5000 full');
});

test('stops counting abandoned events when a flush times out', async () => {
  const root = temporaryFolder();
  const { journal: left } = openTestJournal(root);
  for (let number = 0; number < 25; number += 1) left.append(numberedEvent(number), false, Date.now());
  endOwners(root);
  const { journal, outbox } = start({ root });
  expect(await outbox.flush(0)).toBe(false);
  expect(journal.hasUnsurveyed).toBe(true);
});

test('counts, but does not report, events recorded by onDrop without room', () => {
  for (const whenFull of ['drop-oldest', 'drop-newest'] as const) {
    let number = 100;
    const { counters, dropped, outbox } = start({
      whenFull,
      maxQueuedEvents: 2,
      isInMemory: true,
      onDrop: () => outbox.add(numberedEvent(++number), 0),
    });
    for (const each of [0, 1, 2, 3]) outbox.add(numberedEvent(each), 0);
    expect([dropped.length, counters.dropped, outbox.pending]).toEqual([2, 4, 2]);
    outbox.close();
    expect([dropped.length, counters.dropped, outbox.pending]).toEqual([4, 8, 0]);
  }
});

test('does not count a given-up event again when its response arrives', async () => {
  const { promise, resolve } = Promise.withResolvers<(result: SendResult) => void>();
  const sender: EventSender = { send: (_body, _headers, done) => resolve(done), abort: () => {} };
  const { counters, outbox } = start({ sender, isInMemory: true });
  outbox.add(numberedEvent(1), 0);
  const done = await promise;
  outbox.close();
  done({ status: 202 });
  expect([counters.recorded, counters.dropped, counters.delivered, outbox.pending]).toEqual([1, 1, 0, 0]);
});

test('sends events in memory despite an unreadable file', async () => {
  useFakeTime({ toFake: ['setTimeout', 'clearTimeout', 'Date', 'performance'] });
  try {
    const { counters, disk, outbox, sent, service } = start({ maxQueuedEvents: 10 });
    for (let number = 0; number < 20; number += 1) outbox.add(numberedEvent(number), Date.now());
    disk.isFull = true;
    disk.isUnreadable = true;
    outbox.add(numberedEvent(20), Date.now());
    service.isUp = true;
    const flushed = outbox.flush(60_000);
    await vi.advanceTimersByTimeAsync(60_000);
    expect([await flushed, counters.delivered, outbox.pending]).toEqual([false, 11, 10]);
    disk.isUnreadable = false;
    const whole = outbox.flush(60_000);
    await vi.advanceTimersByTimeAsync(60_000);
    expect([await whole, counters.delivered, outbox.pending]).toEqual([true, 21, 0]);
    expect(new Set(sent).size).toBe(21);
  } finally {
    useRealTime();
  }
});
