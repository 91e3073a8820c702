import { readdirSync } from 'node:fs';
import { join } from 'node:path';
import { pathToFileURL } from 'node:url';
import { expect, test } from 'vitest';
import { AgentProcess, drain } from './agent-process.ts';
import { temporaryFolder, tenantFolderIn } from './journal-fixture.ts';
import { Sink } from './sink.ts';

test.each<[string, number | string, NodeJS.Signals | undefined]>([
  ['throw', 1, undefined],
  ['stay', 'SIGINT', 'SIGINT'],
  ['own-handler', 5, 'SIGTERM'],
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

test('writes events recorded by an exit listener to disk', async () => {
  const sink = await Sink.start();
  const spool = temporaryFolder();
  const agent = new AgentProcess({ MODE: 'exit-listener', COUNT: '5', SINK_URL: sink.url, SPOOL: spool });
  expect(await agent.end()).toBe(7);
  expect([agent.recorded.length, agent.dropped]).toEqual([7, []]);
  expect(await drain(sink, spool)).toMatchObject({ pending: 0, dropped: 0 });
  expect(sink.storedIds.toSorted()).toEqual(agent.recorded.toSorted());
  expect(readdirSync(tenantFolderIn(spool))).toEqual([]);
});

test('delivers all events at a natural end, without a flush, from memory only', async () => {
  const sink = await Sink.start();
  const agent = new AgentProcess({ MODE: 'natural', COUNT: '200', SINK_URL: sink.url, SPOOL: '' });
  expect(await agent.end()).toBe(0);
  expect(sink.storedIds.toSorted()).toEqual(agent.recorded.toSorted());
});

test.each([0, 5])('delivers events recorded by beforeExit listeners, after %d events', async (count) => {
  const sink = await Sink.start();
  const agent = new AgentProcess({
    MODE: 'before-exit-listener',
    COUNT: String(count),
    SINK_URL: sink.url,
  });
  expect(await agent.end()).toBe(0);
  expect([agent.recorded.length, agent.dropped]).toEqual([count + 2, []]);
  expect(sink.storedIds.toSorted()).toEqual(agent.recorded.toSorted());
});

test('ends an agent with a hanging service long before requests time out', async () => {
  const sink = await Sink.start(({ number }) => (number > 20 ? { fault: 'hang' } : undefined));
  const spool = temporaryFolder();
  const agent = new AgentProcess({
    MODE: 'natural',
    COUNT: '40',
    SINK_URL: sink.url,
    SPOOL: spool,
    LIMITS: JSON.stringify({ exitTimeoutMs: 500, requestTimeoutMs: 3_600_000 }),
  });
  expect(await agent.end()).toBe(0);
  sink.respond = () => undefined;
  expect(await drain(sink, spool)).toMatchObject({ pending: 0 });
  expect(sink.storedIds.toSorted()).toEqual(agent.recorded.toSorted());
});

test('ends an agent whose service hangs at its second address', async () => {
  const sink = await Sink.start(() => ({ fault: 'hang' }));
  const agent = new AgentProcess({
    NODE_OPTIONS: `--import ${pathToFileURL(join(import.meta.dirname, 'programs', 'both-families.ts'))}`,
    MODE: 'natural',
    COUNT: '1',
    SINK_URL: sink.url.replace('127.0.0.1', 'localhost'),
    SPOOL: temporaryFolder(),
    LIMITS: JSON.stringify({ exitTimeoutMs: 500, requestTimeoutMs: 3_600_000 }),
  });
  expect(await agent.end()).toBe(0);
  expect([agent.recorded.length, agent.dropped]).toEqual([1, []]);
});

test('does not wait for pending checks of observed calls', async () => {
  const sink = await Sink.start(({ path }) => (path === '/v1/events' ? undefined : { fault: 'hang' }));
  const agent = new AgentProcess({
    MODE: 'observed',
    COUNT: '0',
    SINK_URL: sink.url,
    SPOOL: temporaryFolder(),
    LIMITS: JSON.stringify({ guard: { mode: 'observe', timeoutMs: 3_600_000 } }),
  });
  expect(await agent.end()).toBe(0);
  expect(sink.stored.length).toBe(1);
});

test('ends at once if the service is down and everything is on disk, and reports why', async () => {
  const sink = await Sink.start();
  await sink.down();
  const spool = temporaryFolder();
  const agent = new AgentProcess({
    MODE: 'natural',
    COUNT: '20',
    SINK_URL: sink.url,
    SPOOL: spool,
    LIMITS: JSON.stringify({ exitTimeoutMs: 3_600_000 }),
  });
  expect(await agent.end()).toBe(0);
  expect(agent.stderr).toContain(`${sink.url} cannot be reached: ECONNREFUSED. Events are kept`);
  await sink.up();
  expect(await drain(sink, spool)).toMatchObject({ delivered: 20, pending: 0 });
});
