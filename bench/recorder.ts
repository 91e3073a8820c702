import { median } from './measure/interleaved-rounds.ts';
import { runProgram } from './recorder/child-program.ts';
import type { DrainCost } from './recorder/drain-process.ts';
import type { LargeCallCost } from './recorder/large-call-process.ts';
import type { CallCost } from './recorder/measured-calls.ts';
import { ensurePeers, peerNames } from './recorder/peer-packages.ts';
import { SinkProcess } from './recorder/sink-process.ts';

/** What this benchmark measures, in a line. */
export const description =
  'What recording a tool call costs, beside other recorders; how fast events drain; how the event loop fares';

const callsPerRound = 5_000;
const drained = 100_000;
const connections = 16;

type Row = Record<string, number>;

/** The median of each figure over the rounds. */
function medians(rounds: readonly object[]): Row {
  const names = Object.keys(rounds[0] ?? {});
  return Object.fromEntries(
    names.map((name) => [
      name,
      Number(median(rounds.map((round) => (round as Row)[name] ?? Number.NaN)).toFixed(1)),
    ]),
  );
}

/** Measures all in turns, whoever goes first changing with every round. */
async function interleaveAll<Result extends object>(
  names: readonly string[],
  rounds: number,
  measure: (name: string) => Promise<Result>,
): Promise<Record<string, Row>> {
  const all = new Map<string, Result[]>(names.map((name) => [name, []]));
  for (let round = 0; round < rounds; round += 1) {
    for (let turn = 0; turn < names.length; turn += 1) {
      const name = names[(turn + round) % names.length] as string;
      all.get(name)?.push(await measure(name));
    }
  }
  return Object.fromEntries([...all].map(([name, results]) => [name, medians(results)]));
}

function callCosts(sink: SinkProcess, names: readonly string[], rounds: number, pauseEvery: number) {
  return interleaveAll(names, rounds, async (name) => {
    await sink.forget();
    const args = [name, sink.url, String(callsPerRound), String(pauseEvery)];
    return runProgram<CallCost>('subject-process.ts', args);
  });
}

function drainCosts(sink: SinkProcess, rounds: number) {
  return interleaveAll(['actlog', 'bare', 'actlog-pipelined', 'bare-pipelined'], rounds, async (name) => {
    await sink.forget();
    const [who = '', isPipelined] = name.split('-');
    const depth = isPipelined ? ['4', '4'] : [String(connections), '1'];
    return runProgram<DrainCost>('drain-process.ts', [who, sink.url, String(drained), ...depth]);
  });
}

/** Takes the floor off: what the recorder adds to the call itself. */
function added(costs: Record<string, Row>, floor: string): Record<string, Row> {
  const base = costs[floor] ?? {};
  return Object.fromEntries(
    Object.entries(costs).map(([name, row]) => [
      name,
      Object.fromEntries(
        Object.entries(row).map(([figure, value]) => [
          figure,
          Number((value - (base[figure] ?? 0)).toFixed(1)),
        ]),
      ),
    ]),
  );
}

/**
 * Options: `--rounds=N` (default 5), `--no-peers`, `--only=calls,langchain,drain,large`, `--json`.
 */
export async function run(args: string[]): Promise<Record<string, unknown>> {
  const option = (name: string) => args.find((arg) => arg.startsWith(`--${name}=`))?.split('=')[1];
  const rounds = Number(option('rounds') ?? 5);
  const only = option('only')?.split(',');
  const isWanted = (part: string) => only === undefined || only.includes(part);
  const peers = !args.includes('--no-peers') && ensurePeers() ? [...peerNames] : [];
  const sink = await SinkProcess.start();
  const result: Record<string, unknown> = {};
  const show = (title: string, table: Record<string, Row>) => {
    result[title] = table;
    if (args.includes('--json')) return;
    console.log(`\n${title}`);
    console.table(table);
  };
  try {
    if (isWanted('calls')) {
      const costs = await callCosts(sink, ['bare', 'actlog', 'actlog-memory'], rounds, 10);
      show('Added to a call of an empty function, microseconds', added(costs, 'bare'));
    }
    if (isWanted('langchain') && (peers.length > 0 || !args.includes('--no-peers'))) {
      const names = [
        'langchain-bare',
        'langchain-empty',
        'langchain-actlog',
        ...peers.map((peer) => `langchain-${peer}`),
      ];
      const paced = await callCosts(sink, names, rounds, 10);
      show('Added to tool.invoke of LangChain, microseconds', added(paced, 'langchain-bare'));
    }
    if (isWanted('drain')) {
      show(
        `${drained} events drain over ${connections} connections, or 4 with 4 under way each`,
        await drainCosts(sink, rounds),
      );
    }
    if (isWanted('large')) {
      const large = await interleaveAll(['5 MB of arguments'], rounds, () =>
        runProgram<LargeCallCost>('large-call-process.ts', [sink.url]),
      );
      show('One large call, milliseconds', large);
    }
  } finally {
    sink.stop();
  }
  return result;
}
