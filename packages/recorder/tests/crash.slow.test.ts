import { expect, test } from 'vitest';
import { AgentProcess } from './agent-process.ts';
import { temporaryFolder } from './journal-fixture.ts';
import { Sink } from './sink.ts';

test('loses and duplicates no events of agents killed at any moment and restarted', async () => {
  const sink = await Sink.start();
  const spool = temporaryFolder();
  const recorded: string[] = [];
  for (let life = 0; life < 6; life += 1) {
    const agent = new AgentProcess({ MODE: 'forever', SINK_URL: sink.url, SPOOL: spool });
    const enough = 1 + life * 137;
    await agent.until(() => agent.recorded.length >= enough);
    agent.child.kill('SIGKILL');
    expect(await agent.end()).toBe('SIGKILL');
    recorded.push(...agent.recorded);
  }
  const last = new AgentProcess({ MODE: 'drain', COUNT: '0', SINK_URL: sink.url, SPOOL: spool });
  expect(await last.end()).toBe(0);
  expect(JSON.parse(last.lines[0] as string)).toMatchObject({ pending: 0, dropped: 0, deadLettered: 0 });
  const stored = new Set(sink.storedIds);
  expect(recorded.filter((id) => !stored.has(id))).toEqual([]);
  // An event whose `record` was running may be stored too, one per process.
  expect(stored.size - recorded.length).toBeLessThanOrEqual(6);
});

test('delivers every event of eight processes with a shared spool, some of them killed', async () => {
  const sink = await Sink.start();
  await sink.down();
  const spool = temporaryFolder();
  const agents = Array.from(
    { length: 8 },
    () => new AgentProcess({ MODE: 'stay', COUNT: '150', SINK_URL: sink.url, SPOOL: spool }),
  );
  for (const agent of agents) await agent.until(() => agent.lines.includes('ready'));
  for (const agent of agents.slice(0, 5)) agent.child.kill('SIGKILL');
  for (const agent of agents.slice(0, 5)) await agent.end();
  await sink.up();
  const drains = [1, 2, 3].map(
    () => new AgentProcess({ MODE: 'drain', COUNT: '0', SINK_URL: sink.url, SPOOL: spool }),
  );
  for (const drain of drains) expect(await drain.end()).toBe(0);
  await sink.until(() => sink.stored.length >= 8 * 150);
  const recorded = agents.flatMap((agent) => agent.recorded);
  expect(sink.storedIds.toSorted()).toEqual(recorded.toSorted());
});
