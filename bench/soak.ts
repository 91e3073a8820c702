import { readdirSync } from 'node:fs';
import { setTimeout as delay } from 'node:timers/promises';
import { SinkProcess } from './recorder/sink-process.ts';
import { temporaryFolder } from './recorder/temporary-folder.ts';
import { SoakingAgent } from './soak/agent.ts';
import type { AgentHealth } from './soak/agent-process.ts';
import { slopeOf } from './soak/slope.ts';

/** One-line description of this benchmark. */
export const description =
  'An agent that works for ten minutes through outages: losses, memory, descriptors (--minutes N)';

const roundMs = 30_000;
const faultMs = 8_000;
/** Minimum number of rounds for a conclusion about memory. */
const roundsForMemory = 8;
/** Growth per minute that counts as flat: the garbage collector's leftovers vary by more between two rounds. */
const flatHeapMb = 0.2;
const flatRssMb = 2;

/** Files that an idle recorder may keep open: its current segment. */
const ownDescriptors = 1;

/** One fault per round, in turn. */
const faults = ['unavailable', 'throttled', 'restart', 'reset', 'cut'] as const;

async function strike(sink: SinkProcess, fault: (typeof faults)[number]): Promise<void> {
  if (fault === 'restart') await sink.down();
  else await sink.fail(fault);
  await delay(faultMs);
  if (fault === 'restart') await sink.up();
  else await sink.fail('none');
}

function lineOf(atMs: number, fault: string, health: AgentHealth): string {
  const { recorded, delivered, pending, retried, heapMb, rssMb, descriptors, spoolBytes } = health;
  return (
    `${Math.round(atMs / 1000)} s, after "${fault}": ${recorded} recorded, ${delivered} delivered, ${pending} pending, ` +
    `${retried} sent again, spool ${spoolBytes} B, heap ${heapMb.toFixed(1)} MB, rss ${rssMb.toFixed(0)} MB, ` +
    `${descriptors} descriptors`
  );
}

/**
 * Returns the memory growth between the ends of the rounds in the second half: in the first half, code is compiled, and
 * pools and maps reach their size. Rounds that end with a backlog, which takes memory, do not count.
 */
function memoryOf(rounds: readonly AgentHealth[]): { heapMbPerMinute: number; rssMbPerMinute: number } {
  const settled = rounds.slice(rounds.length / 2).filter(({ pending }) => pending === 0);
  const perMinute = (values: number[]) => Number((slopeOf(values) * (60_000 / roundMs)).toFixed(3));
  return {
    heapMbPerMinute: perMinute(settled.map(({ heapMb }) => heapMb)),
    rssMbPerMinute: perMinute(settled.map(({ rssMb }) => rssMb)),
  };
}

async function soak(minutes: number, sink: SinkProcess, agent: SoakingAgent, print: (line: string) => void) {
  const startedAt = performance.now();
  const rounds: AgentHealth[] = [];
  for (let round = 0; round * roundMs < minutes * 60_000; round += 1) {
    const fault = faults[round % faults.length] ?? 'unavailable';
    await strike(sink, fault);
    await delay(startedAt + (round + 1) * roundMs - performance.now());
    const health = await agent.health();
    rounds.push(health);
    print(lineOf(performance.now() - startedAt, fault, health));
  }
  return rounds;
}

/**
 * Options: `--minutes N` or `--minutes=N` (default 10), `--json`.
 *
 * @throws when an event was lost, or memory, descriptors or the spool did not return to their earlier size
 */
export async function run(args: string[]): Promise<Record<string, unknown>> {
  const text = args.join(' ');
  const minutes = Number(/--minutes[= ]([\d.]+)/.exec(text)?.[1] ?? 10);
  const spool = temporaryFolder();
  const sink = await SinkProcess.start();
  const agent = new SoakingAgent(sink.url, spool);
  try {
    const print = (line: string) => {
      if (!args.includes('--json')) console.log(line);
    };
    const before = await agent.health();
    await agent.work();
    const rounds = await soak(minutes, sink, agent, print);
    await agent.rest();
    await delay(6_000); // idle connections are closed after 4 s
    const idle = await agent.health();
    const { arrived, repeated, doubled } = await sink.report();
    const ended = await agent.end();
    const result = {
      minutes,
      recorded: ended.recorded,
      lost: ended.recorded - arrived.length,
      dropped: ended.dropped + ended.deadLettered,
      doubled,
      sentAgain: repeated,
      ...memoryOf(rounds),
      descriptorsBefore: before.descriptors,
      descriptorsAtWork: Math.max(...rounds.map(({ descriptors }) => descriptors)),
      descriptorsIdle: idle.descriptors,
      resourcesIdle: idle.resources,
      spoolBytes: idle.spoolBytes,
      spoolFiles: readdirSync(spool).length,
    };
    if (!args.includes('--json')) console.table(result);
    complain(result, rounds.length);
    if (idle.descriptors > before.descriptors + ownDescriptors)
      throw new Error('Descriptors were left open.');
    return result;
  } finally {
    agent.kill();
    sink.stop();
  }
}

function complain(result: Readonly<Record<string, number>>, rounds: number): void {
  const wrong = Object.entries(result).filter(([name, value]) => {
    if (['lost', 'doubled', 'dropped', 'spoolBytes', 'spoolFiles'].includes(name)) return value !== 0;
    if (rounds < roundsForMemory) return false;
    return (
      (name === 'heapMbPerMinute' && value > flatHeapMb) || (name === 'rssMbPerMinute' && value > flatRssMb)
    );
  });
  if (wrong.length > 0) {
    throw new Error(`Not as it should be: ${wrong.map((pair) => pair.join(' ')).join(', ')}.`);
  }
}
