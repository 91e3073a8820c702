import { mkdirSync, readdirSync, utimesSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterEach, expect, test, vi } from 'vitest';
import { openTestJournal, temporaryFolder } from '../../tests/journal-fixture.ts';
import { folderName } from './own-file.ts';
import { realFiles } from './segment.ts';

const minuteMs = 60_000;
const otherMachine = { machine: '0'.repeat(12), pid: 7, startTicks: 1 };

afterEach(() => void vi.useRealTimers());

test.each([-30, 30])('leaves the folder of a process whose clock differs by %i minutes', (minutes) => {
  const root = temporaryFolder();
  const { journal } = openTestJournal(root);
  const nowMs = Date.now();
  vi.useFakeTimers({ now: nowMs + minutes * minuteMs, toFake: ['Date'] });
  const folder = join(root, folderName(otherMachine, Date.now()));
  mkdirSync(folder, { mode: 0o700 });
  realFiles.touch(folder);
  vi.useRealTimers();
  for (const aheadMs of [0, 10 * minuteMs]) journal.adopt(nowMs + aheadMs);
  expect(readdirSync(root)).toContain(folder.slice(root.length + 1));
  const longAgo = new Date(nowMs - 2 * minuteMs);
  utimesSync(folder, longAgo, longAgo);
  journal.adopt(nowMs);
  expect(readdirSync(root)).not.toContain(folder.slice(root.length + 1));
});

test('removes the empty folder of a process that ended while it marked it', () => {
  const root = temporaryFolder();
  const { journal } = openTestJournal(root);
  const name = folderName(otherMachine, Date.now());
  mkdirSync(join(root, name), { mode: 0o700 });
  writeFileSync(join(root, name, 'mark'), '');
  const longAgo = new Date(Date.now() - 2 * minuteMs);
  utimesSync(join(root, name), longAgo, longAgo);
  journal.adopt(Date.now());
  const [own = ''] = readdirSync(root);
  expect(readdirSync(join(root, own))).toEqual([]);
  expect(own).not.toBe(name);
});
