import { readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test, vi } from 'vitest';
import { useFakeTime, useRealTime } from '../../tests/fake-time.ts';
import {
  breakableFiles,
  endOwners,
  numberedEvent,
  numberOf,
  openTestJournal,
  recoverAll,
  temporaryFolder,
} from '../../tests/journal-fixture.ts';
import { realFiles } from './segment.ts';

function noSpace(): Error {
  return Object.assign(new Error('ENOSPC: no space left on device, write'), { code: 'ENOSPC' });
}

test('keeps all confirmed events when the disk is full for a while', () => {
  const root = temporaryFolder();
  let room = 3_000;
  const files = {
    ...realFiles,
    append(fd: number, text: string) {
      const bytes = Buffer.from(text);
      if (room === 0) throw noSpace();
      const written = realFiles.append(fd, bytes.toString('utf8', 0, Math.min(room, bytes.length)));
      room -= written;
      return written;
    },
  };
  const { journal, told } = openTestJournal(root, { files });
  const durable: number[] = [];
  for (let number = 0; number < 60; number += 1) {
    if (number === 40) room = 1_000_000;
    if (journal.append(numberedEvent(number), true, number * 10_000)) durable.push(number);
  }
  expect(told.failures).toBeGreaterThan(20);
  expect(durable.length).toBeGreaterThan(20);
  expect(recoverAll(root).events.map(numberOf)).toEqual(durable);
});

test('pauses after a failed write', () => {
  let tries = 0;
  const files = breakableFiles((name) => {
    if (name !== 'append') return;
    tries += 1;
    throw noSpace();
  });
  const { journal } = openTestJournal(temporaryFolder(), { files });
  for (let number = 0; number < 100; number += 1) {
    expect(journal.append(numberedEvent(number), true, 1_000_000 + number)).toBe(false);
  }
  expect(tries).toBe(1);
  expect(journal.isBroken).toBe(true);
  journal.append(numberedEvent(100), true, 1_002_000);
  expect(tries).toBe(2);
});

test('does not pause for hours when the clock is set back', () => {
  let tries = 0;
  const files = breakableFiles((name) => {
    if (name !== 'append') return;
    tries += 1;
    throw noSpace();
  });
  const { journal } = openTestJournal(temporaryFolder(), { files });
  journal.append(numberedEvent(1), true, 100_000_000);
  journal.append(numberedEvent(2), true, 1_000_000);
  expect(tries).toBe(2);
});

test('leaves nothing behind when a file cannot be created', () => {
  let isBroken = true;
  const files = breakableFiles((name) => {
    if (name === 'openForAppend' && isBroken) throw noSpace();
  });
  const root = temporaryFolder();
  const { journal } = openTestJournal(root, { files });
  for (let number = 0; number < 5; number += 1) journal.append(numberedEvent(number), true, number * 10_000);
  isBroken = false;
  expect(journal.append(numberedEvent(9), true, 1_000_000)).toBe(true);
  expect(recoverAll(root).events.map(numberOf)).toEqual([9]);
});

test('evicts the oldest segment, but keeps important events and those in flight', () => {
  const { journal } = openTestJournal(temporaryFolder());
  const events = Array.from({ length: 30 }, (_, number) =>
    numberedEvent(number, { status: number === 2 ? 500 : 200 }),
  );
  for (const [number, event] of events.entries()) journal.append(event, number < 4, Date.now());
  (events[1] as { inFlight: boolean }).inFlight = true;
  const before = journal.bytes;
  const evicted = journal.evictOldest((event) => event.isImportant, Date.now());
  expect(evicted.map(numberOf)).toEqual([0, 3, 4, 5, 6]);
  expect(journal.bytes).toBeLessThan(before);
  expect(events[1]?.place).toBeDefined();
  const read: number[] = [];
  while (journal.hasUnread) read.push(...journal.readMore().map(numberOf));
  expect(read).toEqual(Array.from({ length: 23 }, (_, index) => index + 7));
});

test('always frees space when evicting, even if all events are important', () => {
  const { journal } = openTestJournal(temporaryFolder(), { maxBytes: 20_000 });
  for (let number = 0; number < 100 && !journal.room.isFull; number += 1) {
    journal.append(numberedEvent(number, { status: 500 }), false, Date.now());
  }
  expect(journal.room.isFull).toBe(true);
  const evicted = journal.evictOldest((event) => event.isImportant, Date.now());
  expect(evicted.length).toBeGreaterThan(0);
  expect(journal.room.isFull).toBe(false);
});

test('reports an unreadable file, leaves it in place and continues', () => {
  const root = temporaryFolder();
  let isBroken = true;
  const files = breakableFiles((name) => {
    if (name === 'openForRead' && isBroken) throw Object.assign(new Error('EIO: i/o error'), { code: 'EIO' });
  });
  const { journal, told } = openTestJournal(root, { files });
  journal.append(numberedEvent(1), false, Date.now());
  expect([journal.readMore(), journal.unread, told.failures]).toEqual([[], 1, 1]);
  journal.close();
  const { journal: next, told: toldNext } = openTestJournal(root, { files });
  next.adopt(Date.now());
  expect([next.readMore(), next.hasUnread, toldNext.failures]).toEqual([[], false, 1]);
  isBroken = false;
  next.adopt(Date.now());
  expect(next.readMore().map(numberOf)).toEqual([1]);
});

function ioError(): Error {
  return Object.assign(new Error('EIO: i/o error'), { code: 'EIO' });
}

test('retries a temporarily unreadable file before the others', () => {
  useFakeTime();
  try {
    let failures = 1;
    const files = breakableFiles((name) => {
      if (name === 'openForRead' && failures-- > 0) throw ioError();
    });
    const { journal, told } = openTestJournal(temporaryFolder(), { files });
    for (let number = 0; number < 20; number += 1) journal.append(numberedEvent(number), false, Date.now());
    expect([journal.readMore(), journal.readMore(), journal.unread, told.failures]).toEqual([[], [], 20, 1]);
    vi.advanceTimersByTime(journal.readAgainInMs ?? 0);
    const read: number[] = [];
    while (journal.hasUnread) read.push(...journal.readMore().map(numberOf));
    expect(read).toEqual(Array.from({ length: 20 }, (_, index) => index));
  } finally {
    useRealTime();
  }
});

test('a file that cannot be read at all holds the others up for a while only, and stays counted', () => {
  useFakeTime();
  try {
    let broken: unknown;
    const files = breakableFiles((name, [path]) => {
      if (name !== 'openForRead') return;
      broken ??= path;
      if (path === broken) throw ioError();
    });
    const { journal, told } = openTestJournal(temporaryFolder(), { files });
    for (let number = 0; number < 20; number += 1) journal.append(numberedEvent(number), false, Date.now());
    const read: number[] = [];
    for (let round = 0; round < 20; round += 1) {
      read.push(...journal.readMore().map(numberOf));
      vi.advanceTimersByTime(journal.readAgainInMs ?? 0);
    }
    expect(read[0]).toBeGreaterThan(0);
    expect(read.at(-1)).toBe(19);
    expect(journal.unread + read.length).toBe(20);
    expect(told.adopted).toBe(0);
    // To make room, it is left to the next process.
    const left = journal.unread;
    journal.evictOldest(() => false, Date.now());
    expect([journal.unread, told.adopted]).toEqual([0, -left]);
  } finally {
    useRealTime();
  }
});

test('reports a damaged record of its own', () => {
  const root = temporaryFolder();
  const { journal, told } = openTestJournal(root, { segmentBytes: 1_000_000 });
  for (let number = 0; number < 5; number += 1) journal.append(numberedEvent(number), false, Date.now());
  const [name] = (readdirSync(root, { recursive: true }) as string[]).filter((each) => each.endsWith('.seg'));
  const path = join(root, name as string);
  const bytes = readFileSync(path);
  bytes[Math.floor(bytes.length / 2)] = 0x7e;
  writeFileSync(path, bytes);
  expect(journal.readMore().map(numberOf)).toEqual([0, 1, 3, 4]);
  expect([journal.unread, told.unreadable]).toEqual([0, 1]);
});

test('a folder that cannot be marked is kept, and said', () => {
  const files = breakableFiles((name) => {
    if (name === 'touch') throw ioError();
  });
  const root = temporaryFolder();
  const { journal, told } = openTestJournal(root, { files });
  journal.append(numberedEvent(1), false, Date.now());
  expect(journal.append(numberedEvent(2), false, Date.now() + 60_000)).toBe(true);
  expect(told).toEqual({ unreadable: 0, adopted: 0, failures: 1, notTaken: 0 });
  expect(journal.readMore().map(numberOf)).toEqual([1, 2]);
  expect(readdirSync(root).length).toBe(1);
});

test("leaves the files of another user's process in place, reports them once, and continues", () => {
  const root = temporaryFolder();
  openTestJournal(root).journal.append(numberedEvent(1), false, Date.now());
  endOwners(root);
  const [foreign] = readdirSync(root);
  openTestJournal(root).journal.append(numberedEvent(2), false, Date.now());
  endOwners(root);
  const files = breakableFiles((name, [from]) => {
    if (name === 'rename' && from === join(root, String(foreign))) {
      throw Object.assign(new Error('EACCES: permission denied, rename'), { code: 'EACCES' });
    }
  });
  const { journal, told } = openTestJournal(root, { files });
  for (const turn of [1, 2]) journal.adopt(Date.now() + turn);
  expect(journal.readMore().map(numberOf)).toEqual([2]);
  expect(told).toEqual({ unreadable: 0, adopted: 1, failures: 0, notTaken: 1 });
  expect(readdirSync(root)).toContain(foreign);
});

test('without a folder nothing is said to be durable, until one can be made', () => {
  let isFull = false;
  const files = breakableFiles((name) => {
    if (name === 'mkdir' && isFull) throw noSpace();
  });
  const root = temporaryFolder();
  const { journal } = openTestJournal(root, { files });
  const volatile: number[] = [];
  journal.onVolatile = (event) => volatile.push(numberOf(event));
  const nowMs = Date.now();
  journal.append(numberedEvent(0), true, nowMs);
  for (const name of readdirSync(root)) rmSync(join(root, name), { recursive: true });
  isFull = true;
  for (const afterMs of [60_000, 62_000, 64_000]) {
    expect(journal.append(numberedEvent(1), true, nowMs + afterMs)).toBe(false);
  }
  expect(volatile).toEqual([0]);
  isFull = false;
  expect(journal.append(numberedEvent(2), true, nowMs + 66_000)).toBe(true);
  expect(recoverAll(root).events.map(numberOf)).toEqual([2]);
});

test('a journal is tried again without an event, and what tries it says nothing', () => {
  let isFull = true;
  const files = breakableFiles((name) => {
    if (name === 'append' && isFull) throw noSpace();
  });
  const root = temporaryFolder();
  const { journal } = openTestJournal(root, { files });
  expect(journal.append(numberedEvent(0), true, 1_000_000)).toBe(false);
  isFull = false;
  journal.retry(1_000_500);
  expect(journal.isBroken).toBe(true);
  journal.retry(1_002_000);
  expect(journal.isBroken).toBe(false);
  journal.append(numberedEvent(1), true, 1_002_000);
  const { events, told } = recoverAll(root);
  expect([events.map(numberOf), told.unreadable]).toEqual([[1], 0]);
});
