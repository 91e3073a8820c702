import { readdirSync } from 'node:fs';
import { expect, test } from 'vitest';
import { AgentProcess, drain } from './agent-process.ts';
import { temporaryFolder, tenantFolderIn } from './journal-fixture.ts';
import { Sink } from './sink.ts';

test.each<[string, number | string, NodeJS.Signals | undefined]>([
  ['exit', 7, undefined],
  ['stay', 'SIGTERM', 'SIGTERM'],
  ['stay', 'SIGKILL', 'SIGKILL'],
])('does not affect an end by %s (%s), and loses nothing', async (mode, code, signal) => {
  const sink = await Sink.start();
  const spool = temporaryFolder();
  const agent = new AgentProcess({ MODE: mode, COUNT: '200', SINK_URL: sink.url, SPOOL: spool });
  if (signal) {
    await agent.until(() => agent.lines.includes('ready'));
    agent.child.kill(signal);
  }
  expect(await agent.end()).toBe(code);
  expect(agent.stderr.includes('the agent broke')).toBe(mode === 'throw');
  expect(agent.recorded.length).toBe(200);
  const { delivered, pending, dropped } = await drain(sink, spool);
  expect({ pending, dropped }).toEqual({ pending: 0, dropped: 0 });
  // Events that arrived before the end are not all sent again.
  expect(delivered).toBeLessThanOrEqual(200);
  expect(sink.storedIds.toSorted()).toEqual(agent.recorded.toSorted());
  expect(readdirSync(tenantFolderIn(spool))).toEqual([]);
});

test('delivers all events at a natural end, without a flush', async () => {
  const sink = await Sink.start();
  const spool = temporaryFolder();
  const agent = new AgentProcess({ MODE: 'natural', COUNT: '200', SINK_URL: sink.url, SPOOL: spool });
  expect(await agent.end()).toBe(0);
  expect(sink.storedIds.toSorted()).toEqual(agent.recorded.toSorted());
  expect(readdirSync(tenantFolderIn(spool))).toEqual([]);
});
