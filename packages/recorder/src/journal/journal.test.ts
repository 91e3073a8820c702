import { readdirSync, readFileSync, statSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import {
  endOwners,
  numberedEvent,
  numberOf,
  openTestJournal,
  recoverAll,
  temporaryFolder,
} from '../../tests/journal-fixture.ts';

function segmentsIn(root: string): string[] {
  return (readdirSync(root, { recursive: true }) as string[]).filter((name) => name.endsWith('.seg')).sort();
}

test('the next process finds what was not settled, in order', () => {
  const root = temporaryFolder();
  const { journal } = openTestJournal(root);
  const events = Array.from({ length: 50 }, (_, index) => numberedEvent(index));
  for (const event of events) expect(journal.append(event, true, Date.now())).toBe(true);
  for (const event of events.slice(0, 20)) event.settle();
  journal.writeSettled();

  const { events: found, told } = recoverAll(root);
  expect(found.map(numberOf)).toEqual(Array.from({ length: 30 }, (_, index) => index + 20));
  expect(found[0]?.body).toBe(events[20]?.body);
  expect(told).toEqual({ unreadable: 0, adopted: 30, failures: 0, notTaken: 0 });
});

test('nothing stays on disk of what is settled', () => {
  const root = temporaryFolder();
  const { journal } = openTestJournal(root);
  const events = Array.from({ length: 50 }, (_, index) => numberedEvent(index));
  for (const event of events) journal.append(event, true, Date.now());
  expect(segmentsIn(root).length).toBeGreaterThan(5);
  for (const event of events) event.settle();
  journal.writeSettled();
  expect(segmentsIn(root).map((name) => statSync(join(root, name)).size)).toEqual([0]);
  expect(journal.bytes).toBe(0);
  journal.close();
  expect(readdirSync(root)).toEqual([]);
});

test('files are readable by their owner only', () => {
  const root = temporaryFolder();
  const { journal } = openTestJournal(join(root, 'spool'));
  journal.append(numberedEvent(1), true, Date.now());
  const modes = (readdirSync(root, { recursive: true }) as string[]).map(
    (name) => statSync(join(root, name)).mode & 0o777,
  );
  expect(modes).toEqual([0o700, 0o700, 0o600]);
});

test('events that memory did not hold come back once each, behind those it did', () => {
  const { journal } = openTestJournal(temporaryFolder());
  const loaded = [0, 1, 2].map((number) => numberedEvent(number));
  for (const event of loaded) journal.append(event, true, Date.now());
  for (let number = 3; number < 40; number += 1) journal.append(numberedEvent(number), false, Date.now());
  loaded[1]?.settle();
  journal.writeSettled();
  expect(journal.unread).toBe(37);
  const read: number[] = [];
  while (journal.hasUnread) read.push(...journal.readMore().map(numberOf));
  expect(read).toEqual(Array.from({ length: 37 }, (_, index) => index + 3));
  expect(journal.unread).toBe(0);
});

test.each([0, 1])(
  'a last record that is cut at any byte is skipped, and nothing else (%i settled)',
  (settled) => {
    const root = temporaryFolder();
    const { journal } = openTestJournal(root, { segmentBytes: 1_000_000 });
    const events = [1, 2, 3].map((number) => numberedEvent(number));
    for (const event of events) journal.append(event, true, Date.now());
    for (const event of events.slice(0, settled)) event.settle();
    journal.writeSettled();
    const lastEvent = numberedEvent(4);
    const before = journal.bytes;
    journal.append(lastEvent, true, Date.now());
    const [name] = segmentsIn(root) as [string];
    const whole = readFileSync(join(root, name));
    const kept = [1, 2, 3].slice(settled);
    for (let size = before; size <= whole.length; size += 1) {
      const copy = temporaryFolder();
      const { journal: other } = openTestJournal(copy);
      other.append(numberedEvent(0), true, Date.now());
      writeFileSync(join(copy, segmentsIn(copy)[0] as string), whole.subarray(0, size));
      const { events: found, told } = recoverAll(copy);
      expect(found.map(numberOf)).toEqual(size === whole.length ? [...kept, 4] : kept);
      expect(told.unreadable).toBe(size === before || size === whole.length ? 0 : 1);
    }
  },
);

test('a damaged record in the middle costs that record', () => {
  const root = temporaryFolder();
  const { journal } = openTestJournal(root, { segmentBytes: 1_000_000 });
  for (let number = 0; number < 5; number += 1) journal.append(numberedEvent(number), true, Date.now());
  const path = join(root, segmentsIn(root)[0] as string);
  const bytes = readFileSync(path);
  bytes[Math.floor(bytes.length / 2)] = 0x7e;
  writeFileSync(path, bytes);
  const { events, told } = recoverAll(root);
  expect(events.map(numberOf)).toEqual([0, 1, 3, 4]);
  expect(told.unreadable).toBe(1);
});

test('a stretch of settled events, however long, does not look like the end', () => {
  const root = temporaryFolder();
  const { journal } = openTestJournal(root, { segmentBytes: 1_000_000 });
  const events = Array.from({ length: 1_500 }, (_, index) => numberedEvent(index));
  for (const event of events) journal.append(event, true, Date.now());
  for (const event of events.slice(0, 1_000)) event.settle();
  journal.writeSettled();
  endOwners(root);
  const { journal: next } = openTestJournal(root);
  next.adopt(Date.now());
  expect(next.readMore().map(numberOf)[0]).toBe(1_000);
});

test('what was taken over is taken over again when the next process ends too', () => {
  const root = temporaryFolder();
  for (let generation = 0; generation < 5; generation += 1) {
    endOwners(root);
    const { journal } = openTestJournal(root);
    journal.adopt(Date.now());
    for (let number = 0; number < 3; number += 1) {
      journal.append(numberedEvent(generation * 3 + number), false, Date.now());
    }
    const some = journal.readMore();
    expect(some.length).toBeGreaterThan(0);
  }
  // Folders created within one millisecond are not ordered.
  const numbers = recoverAll(root)
    .events.map(numberOf)
    .sort((a, b) => a - b);
  expect(numbers).toEqual(Array.from({ length: 15 }, (_, index) => index));
});

test('a folder that another process took over is begun anew with what memory holds', () => {
  const root = temporaryFolder();
  const { journal, told } = openTestJournal(root);
  const event = numberedEvent(1);
  journal.append(event, true, Date.now());
  journal.append(numberedEvent(2), false, Date.now());
  const thief = recoverAll(root);
  expect(thief.events.map(numberOf)).toEqual([1, 2]);
  for (const each of thief.events) each.settle();
  thief.journal.writeSettled();
  journal.keepAlive(Date.now() + 60_000);
  expect(told.adopted).toBe(-1);
  expect(journal.unread).toBe(0);
  expect(recoverAll(root).events.map(numberOf)).toEqual([1]);
});
