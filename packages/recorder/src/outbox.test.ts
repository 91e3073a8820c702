import { AsyncLocalStorage } from 'node:async_hooks';
import { expect, onTestFinished, test } from 'vitest';
import { breakableFiles, numberedEvent, openTestJournal, temporaryFolder } from '../tests/journal-fixture.ts';
import { Counters } from './counters.ts';
import type { Transport } from './delivery/answer.ts';
import type { DroppedEvent } from './drop-reason.ts';
import { Outbox } from './outbox.ts';
import { Reporter } from './reporter.ts';

/** An outbox whose disk can be made full, and that finds nobody to send to unless it is given a transport. */
function start(transport?: Transport) {
  const disk = { isFull: false };
  const files = breakableFiles((name) => {
    if (disk.isFull && ['append', 'openForAppend'].includes(name)) throw new Error('ENOSPC');
  });
  const { journal } = openTestJournal(temporaryFolder(), { files, segmentBytes: 100_000 });
  const counters = new Counters();
  const dropped: DroppedEvent[] = [];
  const outbox = new Outbox({
    journal,
    deadLetters: undefined,
    connect: () => (transport ? Promise.resolve(transport) : new Promise(() => {})),
    headersFor: () => ({}),
    parseRetryAfter: () => undefined,
    maxConcurrency: 16,
    maxQueuedEvents: 1_000,
    whenFull: 'drop-oldest',
    counters,
    reporter: new Reporter({ onDrop: (event) => dropped.push(event), onError: () => {} }, counters),
  });
  onTestFinished(() => outbox.close());
  return { disk, journal, outbox, dropped };
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
  const { outbox } = start({ send: () => resolve(storage.getStore()), abort: () => {} });
  storage.run('a request', () => outbox.add(numberedEvent(1), 0));
  expect(await promise).toBe(undefined);
});
