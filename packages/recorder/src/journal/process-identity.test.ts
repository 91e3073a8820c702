import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { readFileSync } from 'node:fs';
import { setImmediate as nextTurn } from 'node:timers/promises';
import { expect, onTestFinished, test } from 'vitest';
import { folderName, isAlive, ownIdentity, parseFolderName } from './own-file.ts';

const own = ownIdentity();
const minuteMs = 60_000;

test('a folder name tells its owner, and names sort by age', () => {
  const names = [folderName(own, 5), folderName(own, 1_000_000_000_000), folderName(own, 999)];
  expect(names.map(parseFolderName)).toEqual([own, own, own]);
  expect(names.toSorted()).toEqual([names[0], names[2], names[1]]);
  for (const name of ['dead-letters.jsonl', `${names[0]}.released`, '', '..']) {
    expect(parseFolderName(name)).toBeUndefined();
  }
});

test.each<[string, Partial<typeof own>, number, boolean]>([
  ['a thread of this process that was heard of just now', {}, minuteMs / 2, true],
  ['a thread of this process that has been silent', {}, 2 * minuteMs, false],
  ['an earlier process with the number of this one', { startTicks: own.startTicks + 1 }, 0, false],
  ['an earlier process with the number of one that runs', { pid: process.ppid, startTicks: 1 }, 0, false],
  ['a process that has ended', { pid: 4_194_305 }, 0, false],
  ['another machine that was heard of just now', { machine: '0'.repeat(12) }, minuteMs / 2, true],
  ['another machine that has been silent', { machine: '0'.repeat(12) }, 2 * minuteMs, false],
])('%s', (_name, changes, silenceMs, expected) => {
  expect(isAlive({ ...own, ...changes }, silenceMs)).toBe(expected);
});

if (process.platform !== 'linux') {
  test('a process whose start is unknown is believed for a while', () => {
    expect(isAlive({ ...own, pid: process.ppid }, minuteMs)).toBe(true);
    expect(isAlive({ ...own, pid: process.ppid }, 60 * minuteMs)).toBe(false);
  });
}

test.runIf(process.platform === 'linux')('treats a zombie process as dead', async () => {
  const parent = spawn('sh', ['-c', 'exec 3<&0; cat <&3 & echo $!; exec sleep 600']);
  onTestFinished(() => void parent.kill('SIGKILL'));
  const [printed] = await once(parent.stdout, 'data');
  const pid = Number(String(printed));
  const told = (of: number | undefined, file: string) => readFileSync(`/proc/${of}/${file}`, 'latin1');
  const fields = () => told(pid, 'stat').split(') ')[1]?.split(' ');
  // A shell would collect its child; the program that it becomes does not, and only then the child is released.
  while (told(parent.pid, 'comm') !== 'sleep\n') await nextTurn();
  parent.stdin.end();
  while (fields()?.[0] !== 'Z') await nextTurn();
  expect(isAlive({ ...own, pid, startTicks: Number(fields()?.[19]) }, 0)).toBe(false);
});
