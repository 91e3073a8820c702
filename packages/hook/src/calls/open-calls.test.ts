import { mkdtempSync, readdirSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { createEventId } from '@actlog/recorder/short-lived';
import { afterEach, expect, it } from 'vitest';
import { digest } from './hook-call.ts';
import { type CallName, callFileName, OpenCalls } from './open-calls.ts';

const root = mkdtempSync(join(tmpdir(), 'actlog-open-calls-'));
const folder = join(root, 'session');
afterEach(() => rmSync(folder, { recursive: true, force: true }));

const facts = { agentId: 'coder', sessionId: 's', toolName: 'Bash', argumentsHash: 'sha256:0' };

function newName(): CallName {
  return { thread: digest('main'), key: digest('call'), eventId: createEventId(Date.now()), state: 'open' };
}

it('finds the calls of a session that were noted by another process, oldest first', () => {
  const [first, second] = [newName(), newName()];
  new OpenCalls(folder).add(second, facts);
  new OpenCalls(folder).add(first, facts);
  expect(new OpenCalls(folder).find(() => true)).toEqual([first, second]);
});

it('gives an open call to one of several processes that claim it', () => {
  const name = newName();
  const [first, second] = [new OpenCalls(folder), new OpenCalls(folder)];
  first.add(name, facts);
  expect(first.claim(name, 200)).toMatchObject({ eventId: name.eventId, status: 200, facts });
  expect(second.claim(name, 200)).toBeUndefined();
});

it('keeps the status of a call that was claimed but not recorded', () => {
  const calls = new OpenCalls(folder);
  calls.add(newName(), facts);
  calls.claim(calls.find(() => true)[0] as CallName, 200);
  const [left] = new OpenCalls(folder).find(({ state }) => state !== 'done');
  expect(new OpenCalls(folder).claim(left as CallName, 499)).toMatchObject({ status: 200 });
});

it('removes a call whose file is damaged', () => {
  const name = newName();
  const calls = new OpenCalls(folder);
  calls.add(name, facts);
  writeFileSync(join(folder, callFileName(name)), '{"agentId":');
  expect(calls.claim(name, 200)).toBeUndefined();
  expect(readdirSync(folder)).toEqual([]);
});

it('has no calls of a session that does not exist', () => {
  expect(new OpenCalls(folder).find(() => true)).toEqual([]);
});
