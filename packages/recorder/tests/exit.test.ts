import { readdirSync } from 'node:fs';
import { join } from 'node:path';
import { pathToFileURL } from 'node:url';
import { expect, test } from 'vitest';
import { AgentProcess } from './agent-process.ts';
import { temporaryFolder } from './journal-fixture.ts';
import { Sink } from './sink.ts';

/** Lets a process deliver what others left, and returns what it said. */
async function drain(sink: Sink, spool: string): Promise<Record<string, number>> {
  const agent = new AgentProcess({ MODE: 'drain', COUNT: '0', SINK_URL: sink.url, SPOOL: spool });
  expect(await agent.end()).toBe(0);
  return JSON.parse(agent.lines[0] as string);
}

test.each<[string, number | string, NodeJS.Signals | undefined]>([
  ['exit', 7, undefined],
  ['throw', 1, undefined],
  ['stay', 'SIGTERM', 'SIGTERM'],
  ['stay', 'SIGINT', 'SIGINT'],
  ['stay', 'SIGKILL', 'SIGKILL'],
  ['own-handler', 5, 'SIGTERM'],
])(
  'an agent that ends by %s ends as it would without the recorder (%s), and nothing is lost',
  async (mode, code, signal) => {
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
    // Those that arrived before the end are not all sent again.
    expect(delivered).toBeLessThanOrEqual(200);
    expect(sink.storedIds.toSorted()).toEqual(agent.recorded.toSorted());
    expect(readdirSync(spool)).toEqual([]);
  },
);

test('what a listener records at the very end of the process stands on disk', async () => {
  const sink = await Sink.start();
  const spool = temporaryFolder();
  const agent = new AgentProcess({ MODE: 'exit-listener', COUNT: '5', SINK_URL: sink.url, SPOOL: spool });
  expect(await agent.end()).toBe(7);
  expect([agent.recorded.length, agent.dropped]).toEqual([7, []]);
  expect(await drain(sink, spool)).toMatchObject({ pending: 0, dropped: 0 });
  expect(sink.storedIds.toSorted()).toEqual(agent.recorded.toSorted());
  expect(readdirSync(spool)).toEqual([]);
});

test.each([
  ['a journal', true],
  ['memory only', false],
])(
  'an agent that comes to its natural end delivers all, without a flush, with %s',
  async (_name, hasSpool) => {
    const sink = await Sink.start();
    const spool = hasSpool ? temporaryFolder() : '';
    const agent = new AgentProcess({ MODE: 'natural', COUNT: '200', SINK_URL: sink.url, SPOOL: spool });
    expect(await agent.end()).toBe(0);
    expect(sink.storedIds.toSorted()).toEqual(agent.recorded.toSorted());
    if (hasSpool) expect(readdirSync(spool)).toEqual([]);
  },
);

test.each([0, 5])(
  'what listeners record when the event loop has run empty is delivered, too, after %d events',
  async (count) => {
    const sink = await Sink.start();
    const agent = new AgentProcess({
      MODE: 'before-exit-listener',
      COUNT: String(count),
      SINK_URL: sink.url,
    });
    expect(await agent.end()).toBe(0);
    expect([agent.recorded.length, agent.dropped]).toEqual([count + 2, []]);
    expect(sink.storedIds.toSorted()).toEqual(agent.recorded.toSorted());
  },
);

test('an agent whose service begins to hang ends by itself, long before requests time out', async () => {
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
  sink.answer = () => undefined;
  expect(await drain(sink, spool)).toMatchObject({ pending: 0 });
  expect(sink.storedIds.toSorted()).toEqual(agent.recorded.toSorted());
});

test('so does one whose service hangs at the second of its addresses', async () => {
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

test('an agent whose calls are only observed does not wait for answers that nobody waits for', async () => {
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

test('an agent whose service is down ends at once when all is on disk, and says why', async () => {
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
