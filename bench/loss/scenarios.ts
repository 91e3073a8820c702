import { cpSync, readdirSync, readFileSync, truncateSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import type { SinkProcess } from '../recorder/sink-process.ts';
import { temporaryFolder } from '../recorder/temporary-folder.ts';
import { Agent } from './agent.ts';
import type { End } from './agent-process.ts';
import { drainSpool } from './drain-spool.ts';

/** Calls of one scenario. */
export const callCount = 20_000;
const faultMs = 5_000;
/** Time between SIGTERM and SIGKILL, in milliseconds. */
const terminationMs = 30_000;

/** Result of a scenario. */
export interface Loss {
  /** Number of completed calls. */
  readonly made: number;
  /** Events that neither arrived nor were reported to `onDrop`. */
  readonly lost: number;
  /** Events reported to `onDrop`. */
  readonly named: number;
  /** Events that were sent again after they had been stored; their id prevents duplicates. */
  readonly repeated: number;
  /** Calls with two stored events. */
  readonly doubled: number;
}

/** Runs a recorder through a fault. */
export type Scenario = (recorder: string, sink: SinkProcess) => Promise<Loss>;

async function result(sink: SinkProcess, agents: readonly Agent[]): Promise<Loss> {
  const { arrived, repeated, doubled } = await sink.report();
  const made = agents.reduce((sum, agent) => sum + agent.made, 0);
  const named = agents.reduce((sum, agent) => sum + agent.dropped, 0);
  // An event whose call was running when its process was killed may also have arrived.
  return { made, named, repeated, doubled, lost: Math.max(0, made - named - arrived.length) };
}

/** Starts the agent again only to deliver the events that the last process left. */
async function restart(recorder: string, url: string, spool: string): Promise<void> {
  await new Agent({ recorder, url, spool, calls: 0, end: 'flush' }).end();
}

function withFault(
  begin: (sink: SinkProcess) => Promise<void>,
  finish: (sink: SinkProcess) => Promise<void>,
): Scenario {
  return async (recorder, sink) => {
    const spool = temporaryFolder();
    await begin(sink);
    const agent = new Agent({ recorder, url: sink.url, spool, calls: callCount, end: 'flush' });
    await agent.says('started');
    await delay(faultMs);
    await finish(sink);
    await agent.end();
    return result(sink, [agent]);
  };
}

function withEnd(end: End, signal?: NodeJS.Signals): Scenario {
  return async (recorder, sink) => {
    const spool = temporaryFolder();
    const agent = new Agent({ recorder, url: sink.url, spool, calls: callCount, end });
    await agent.says('made');
    if (signal) agent.kill(signal);
    const kill = signal && setTimeout(() => agent.kill('SIGKILL'), terminationMs);
    await agent.end();
    clearTimeout(kill);
    await restart(recorder, sink.url, spool);
    return result(sink, [agent]);
  };
}

function withKills(lives: number): Scenario {
  return async (recorder, sink) => {
    const spool = temporaryFolder();
    const agents: Agent[] = [];
    for (let life = 0; life < lives; life += 1) {
      const agent = new Agent({ recorder, url: sink.url, spool, calls: callCount, end: 'wait' });
      agents.push(agent);
      await agent.says('started');
      await delay(Math.random() * 1_500);
      agent.kill('SIGKILL');
      await agent.end();
    }
    await restart(recorder, sink.url, spool);
    return result(sink, agents);
  };
}

async function eightProcesses(recorder: string, sink: SinkProcess): Promise<Loss> {
  const spool = temporaryFolder();
  const start = () => new Agent({ recorder, url: sink.url, spool, calls: callCount / 8, end: 'wait' });
  const agents = Array.from({ length: 8 }, start);
  await Promise.all(agents.map((agent) => agent.says('started')));
  for (const agent of agents) {
    await delay(Math.random() * 800);
    agent.kill('SIGKILL');
  }
  await Promise.all(agents.map((agent) => agent.end()));
  await Promise.all([1, 2, 3].map(() => restart(recorder, sink.url, spool)));
  return result(sink, agents);
}

async function diskFull(recorder: string, sink: SinkProcess): Promise<Loss> {
  const options = {
    recorder,
    url: sink.url,
    spool: temporaryFolder(),
    calls: callCount,
    end: 'flush',
    fileLimitKiB: 300,
  } as const;
  const agent = new Agent(options);
  await agent.end();
  return result(sink, [agent]);
}

/** Truncates the last record of a journal at every byte; the rest must arrive each time. */
async function journalCut(recorder: string, sink: SinkProcess): Promise<Loss> {
  const calls = 30;
  await sink.down();
  const spool = temporaryFolder();
  const agent = new Agent({ recorder, url: sink.url, spool, calls, end: 'wait' });
  await agent.says('made');
  agent.kill('SIGKILL');
  await agent.end();
  await sink.up();
  const [segment = ''] = (readdirSync(spool, { recursive: true }) as string[]).filter((name) =>
    name.endsWith('.seg'),
  );
  const bytes = readFileSync(join(spool, segment));
  const lastRecordAt = bytes.lastIndexOf('\n', bytes.length - 2) + 1;
  let lost = 0;
  let repeated = 0;
  let doubled = 0;
  for (let size = lastRecordAt; size < bytes.length; size += 1) {
    await sink.forget();
    const copy = temporaryFolder();
    cpSync(spool, copy, { recursive: true });
    truncateSync(join(copy, segment), size);
    await drainSpool(sink.url, copy);
    const report = await sink.report();
    lost += Math.max(0, calls - 1 - report.arrived.length);
    repeated += report.repeated;
    doubled += report.doubled;
  }
  return { made: (calls - 1) * (bytes.length - lastRecordAt), named: 0, lost, repeated, doubled };
}

/** Scenarios that apply to every recorder. */
export const sharedScenarios: Readonly<Record<string, Scenario>> = {
  'all healthy': withEnd('flush'),
  'server down 5 s': withFault(
    (sink) => sink.down(),
    (sink) => sink.up(),
  ),
  '503 for 5 s': withFault(
    (sink) => sink.fail('unavailable'),
    (sink) => sink.fail('none'),
  ),
  '429 storm for 5 s': withFault(
    (sink) => sink.fail('throttled'),
    (sink) => sink.fail('none'),
  ),
  'resets for 5 s': withFault(
    (sink) => sink.fail('reset'),
    (sink) => sink.fail('none'),
  ),
  'answers cut for 5 s': withFault(
    (sink) => sink.fail('cut'),
    (sink) => sink.fail('none'),
  ),
  'SIGKILL at a random instant, restart': withKills(1),
  'SIGTERM after the last call, restart': withEnd('wait', 'SIGTERM'),
  'process.exit(0) after the last call, restart': withEnd('exit'),
  'natural end without a flush': withEnd('natural'),
};

/** Journal scenarios. */
export const journalScenarios: Readonly<Record<string, Scenario>> = {
  'SIGKILL at 20 random instants, restarts': withKills(20),
  'disk full': diskFull,
  'journal cut at every byte of its last record': journalCut,
  '8 processes on one spool, killed': eightProcesses,
};
