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
import { Counters } from '../counters.ts';
import type { Answer, Transport } from '../delivery/answer.ts';
import type { DroppedEvent } from '../drop-reason.ts';
import { encodeSettled } from '../journal/segment-line.ts';
import { Reporter } from '../reporter.ts';
import { Outbox, type WhenFull } from './outbox.ts';

interface StartOptions {
  readonly transport?: Transport;
  readonly root?: string;
  readonly maxBytes?: number;
  readonly segmentBytes?: number;
  readonly maxQueuedEvents?: number;
  readonly whenFull?: WhenFull;
  readonly isInMemory?: boolean;
  readonly onDrop?: () => void;
}

/** An outbox whose disk can be made full, and whose service is down at first. */
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
  const scripted: Transport = {
    send: (body, _headers, done) => {
      if (service.isUp) sent.push(Number(JSON.parse(body).eventId.slice(-12)));
      setImmediate(done, service.isUp ? { status: 202 } : { error: new Error('down') });
    },
    abort: () => {},
  };
  const outbox = new Outbox({
    journal: options.isInMemory ? undefined : journal,
    deadLetters: undefined,
    connect: async () => options.transport ?? scripted,
    headersFor: () => ({}),
    parseRetryAfter: () => undefined,
    maxConcurrency: 16,
    baseURL: 'http://127.0.0.1:8787',
    maxQueuedEvents: options.maxQueuedEvents ?? 1_000,
    whenFull: options.whenFull ?? 'drop-oldest',
    counters,
    reporter: new Reporter({ onDrop, onError: () => {} }, counters),
  });
  onTestFinished(() => outbox.close());
  return { counters, disk, dropped, journal, outbox, root, sent, service };
}

/** The numbers of lost events, and why they were. */
function namesOf(dropped: readonly DroppedEvent[]): string[] {
  return dropped.map(({ event, reason }) => `${Number(event.eventId.slice(-12))} ${reason}`);
}

test('what only memory held while the disk was full is written down when it has room again', () => {
  const { disk, outbox } = start();
  disk.isFull = true;
  for (let number = 0; number < 10; number += 1) outbox.add(numberedEvent(number), 0);
  expect([outbox.pending, outbox.spooled]).toEqual([10, 0]);
  disk.isFull = false;
  outbox.add(numberedEvent(10), 10_000);
  expect([outbox.pending, outbox.spooled]).toEqual([11, 11]);
});

test('what only memory holds is named when the outbox ends, and the rest is not', () => {
  const { disk, outbox, dropped } = start();
  outbox.add(numberedEvent(1), 0);
  disk.isFull = true;
  outbox.add(numberedEvent(2), 0);
  outbox.close();
  expect(dropped.map(({ event, reason }) => [event.eventId.slice(-1), reason])).toEqual([['2', 'closed']]);
  expect([outbox.pending, outbox.spooled]).toEqual([1, 1]);
});

test('what memory holds is on disk at the end, also when somebody removed the folder', () => {
  const { outbox, root } = start({ maxQueuedEvents: 5 });
  for (let number = 0; number < 8; number += 1) outbox.add(numberedEvent(number), 0);
  for (const name of readdirSync(root)) rmSync(join(root, name), { recursive: true });
  outbox.close();
  expect([outbox.pending, outbox.spooled]).toEqual([5, 5]);
  expect(recoverAll(root).events.map(numberOf)).toEqual([0, 1, 2, 3, 4]);
});

test('an event in flight that cannot be written down again counts as held by memory only', () => {
  const { disk, journal, outbox } = start();
  const event = numberedEvent(1);
  outbox.add(event, 0);
  event.inFlight = true;
  disk.isFull = true;
  expect(journal.evictOldest(() => false, 0)).toEqual([]);
  expect([outbox.pending, outbox.spooled]).toEqual([1, 0]);
});

test('what the agent carries by AsyncLocalStorage does not come along into delivery', async () => {
  const storage = new AsyncLocalStorage<string>();
  const { promise, resolve } = Promise.withResolvers<string | undefined>();
  const { outbox } = start({
    transport: { send: () => resolve(storage.getStore()), abort: () => {} },
  });
  storage.run('a request', () => outbox.add(numberedEvent(1), 0));
  expect(await promise).toBe(undefined);
});

test('a journal that works again takes events, though memory is full', () => {
  const { disk, dropped, outbox } = start({ whenFull: 'drop-newest', maxQueuedEvents: 5 });
  for (let number = 0; number < 10; number += 1) outbox.add(numberedEvent(number), 0);
  disk.isFull = true;
  for (const number of [10, 11, 12]) outbox.add(numberedEvent(number), 10_000);
  expect(namesOf(dropped)).toEqual(['11 full', '12 full']);
  // Once a rest, one finds that it still does not work.
  outbox.add(numberedEvent(13), 20_000);
  expect(namesOf(dropped)).toEqual(['11 full', '12 full', '13 full']);
  disk.isFull = false;
  for (const number of [14, 15]) outbox.add(numberedEvent(number), 30_000);
  expect([dropped.length, outbox.pending, outbox.spooled]).toEqual([3, 13, 13]);
});

test('errors push out what stands on disk when the disk and memory are full', async () => {
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

test('what only memory held stands on disk before younger events, and is sent behind older ones', async () => {
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

test('what the disk cannot take is sent behind what stands there unread', async () => {
  const { disk, outbox, sent, service } = start({ maxQueuedEvents: 10 });
  for (let number = 0; number < 30; number += 1) outbox.add(numberedEvent(number), 0);
  disk.isFull = true;
  outbox.add(numberedEvent(30), Date.now());
  service.isUp = true;
  expect(await outbox.flush(20_000)).toBe(true);
  expect(sent).toEqual(Array.from({ length: 31 }, (_, index) => index));
});

test('a later process finds events in order that stood in memory only for a while', () => {
  const { disk, outbox, root } = start();
  outbox.add(numberedEvent(0), 0);
  disk.isFull = true;
  outbox.add(numberedEvent(1), 10_000);
  outbox.add(numberedEvent(2, { status: 500 }), 10_000);
  disk.isFull = false;
  outbox.add(numberedEvent(3), 20_000);
  expect(recoverAll(root).events.map(numberOf)).toEqual([0, 1, 2, 3]);
});

test('whoever waits for room goes on when the disk works again, without another event', async () => {
  const { disk, outbox } = start({ whenFull: 'block', maxQueuedEvents: 5 });
  for (let number = 0; number < 10; number += 1) outbox.add(numberedEvent(number), Date.now());
  disk.isFull = true;
  outbox.add(numberedEvent(10), Date.now());
  disk.isFull = false;
  expect(await outbox.waitForRoom(undefined, 20_000)).toBeInstanceOf(Function);
  expect(outbox.spooled).toBe(11);
});

test('whoever waits for room goes on when what was left behind turns out to be settled', async () => {
  const root = temporaryFolder();
  for (let process = 0; process < 5; process += 1) {
    const { journal } = openTestJournal(root, { segmentBytes: 100_000 });
    const events = Array.from({ length: 20 }, (_, number) => numberedEvent(process * 100 + number));
    for (const event of events) journal.append(event, true, Date.now());
    for (const event of events.slice(0, -1)) event.settle();
    journal.writeSettled();
    // The process is killed before it deletes the file of which everything is settled.
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

test('room is promised once, to those who waited longest, and can be given back', async () => {
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

test('room that was promised is not for others', async () => {
  const { dropped, outbox } = start({ whenFull: 'block', maxQueuedEvents: 1, isInMemory: true });
  const giveBack = await outbox.waitForRoom(undefined, 0);
  outbox.add(numberedEvent(1), Date.now());
  giveBack?.();
  outbox.add(numberedEvent(2), Date.now());
  expect([namesOf(dropped), outbox.pending]).toEqual([['1 full'], 1]);
});

test('nobody waits for an outbox that has ended', async () => {
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

test('the oldest are dropped for a new event, however much was left behind', () => {
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

test('a flush that is out of time counts no further what was left behind', async () => {
  const root = temporaryFolder();
  const { journal: left } = openTestJournal(root);
  for (let number = 0; number < 25; number += 1) left.append(numberedEvent(number), false, Date.now());
  endOwners(root);
  const { journal, outbox } = start({ root });
  expect(await outbox.flush(0)).toBe(false);
  expect(journal.hasUnsurveyed).toBe(true);
});

test('what onDrop records while there is no room is counted, and not told of again', () => {
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

test('an event that was given up at the end is not counted again when its answer comes', async () => {
  const { promise, resolve } = Promise.withResolvers<(answer: Answer) => void>();
  const transport: Transport = { send: (_body, _headers, done) => resolve(done), abort: () => {} };
  const { counters, outbox } = start({ transport, isInMemory: true });
  outbox.add(numberedEvent(1), 0);
  const done = await promise;
  outbox.close();
  done({ status: 202 });
  expect([counters.recorded, counters.dropped, counters.delivered, outbox.pending]).toEqual([1, 1, 0, 0]);
});

test('a file that cannot be read does not hold back what only memory holds', async () => {
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
