import { join } from 'node:path';
import { median } from './measure/interleaved-rounds.ts';
import { medianAbove, takeShortTurns } from './measure/short-turns.ts';
import { runProgram } from './recorder/child-program.ts';
import type { DrainCost } from './recorder/drain-process.ts';
import type { LargeCallCost } from './recorder/large-call-process.ts';
import type { CallCost } from './recorder/measured-calls.ts';
import { originErrors } from './recorder/origin-errors.ts';
import { ensurePeers, peerNames } from './recorder/peer-packages.ts';
import { SinkProcess } from './recorder/sink-process.ts';

/** One-line description of this benchmark. */
export const description =
  'Cost of recording a tool call compared with other recorders, delivery rate, and event-loop stalls';

const drained = 100_000;
const connections = 16;

type Row = Record<string, number>;

/** Returns the median of each figure over the rounds. */
function medians(rounds: readonly object[]): Row {
  const names = Object.keys(rounds[0] ?? {});
  return Object.fromEntries(
    names.map((name) => [
      name,
      Number(median(rounds.map((round) => (round as Row)[name] ?? Number.NaN)).toFixed(1)),
    ]),
  );
}

/** Measures everything interleaved; the order alternates with every round. */
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

/** Returns the costs of calls, measured in short turns. */
async function callCosts(
  sink: SinkProcess,
  names: readonly string[],
  rounds: number,
): Promise<ReadonlyMap<string, readonly CallCost[]>> {
  return takeShortTurns<CallCost>({
    names,
    program: (name) => [join(import.meta.dirname, 'recorder/subject-process.ts'), name, sink.url],
    warmUp: () => 15_000,
    turn: () => 2_000,
    turns: 2 * rounds,
    generations: 3,
    afterTurns: () => sink.forget(),
  });
}

function drainCosts(sink: SinkProcess, rounds: number) {
  return interleaveAll(['actlog', 'bare'], rounds, async (name) => {
    await sink.forget();
    return runProgram<DrainCost>('drain-process.ts', [name, sink.url, String(drained), String(connections)]);
  });
}

/** Subtracts the floor: returns the cost that the recorder adds to the call itself. */
function added(costs: ReadonlyMap<string, readonly CallCost[]>, floor: string): Record<string, Row> {
  const floors = costs.get(floor) ?? [];
  return Object.fromEntries([...costs].map(([name, own]) => [name, medianAbove(own, floors)]));
}

/** Measurable rows by name. */
const rows = {
  toolcall: async ({ sink, rounds }) => ({
    'Added to a call of an empty function, microseconds': added(
      await callCosts(sink, ['bare', 'least', 'actlog', 'least-memory', 'actlog-memory'], rounds),
      'bare',
    ),
  }),
  langchain: async ({ sink, rounds, peers }) => {
    const names = ['bare', 'empty', 'least', 'actlog', 'actlog-memory', 'actlog-tools', ...peers].map(
      (name) => `langchain-${name}`,
    );
    const costs = await callCosts(sink, names, rounds);
    return {
      'Added to tool.invoke of LangChain, microseconds': added(costs, 'langchain-bare'),
      'Of that, above an empty callback handler': added(costs, 'langchain-empty'),
    };
  },
  drain: async ({ sink, rounds }) => ({
    [`${drained} events drain over ${connections} connections`]: await drainCosts(sink, rounds),
  }),
  large: async ({ sink, rounds }) => ({
    'One large call, milliseconds': await interleaveAll(['5 MB of arguments'], rounds, () =>
      runProgram<LargeCallCost>('large-call-process.ts', [sink.url]),
    ),
  }),
  origins: async ({ sink, rounds }) => ({
    'Origins of arguments: added to a call with 200 bytes of arguments and 2 KB of results, microseconds':
      added(await callCosts(sink, ['results', 'results-origins'], rounds), 'results'),
    'One large call with origins, milliseconds': await interleaveAll(
      ['5 MB of arguments', '5 MB of results'],
      rounds,
      (name) =>
        runProgram<LargeCallCost>('large-call-process.ts', [
          sink.url,
          name.split(' ').at(-1) as string,
          'origins',
        ]),
    ),
    'Values that a model copies from a text of 300 words, or makes up': originErrors(),
  }),
} satisfies Record<string, (run: RowRun) => Promise<Record<string, Record<string, Row>>>>;

/** Options of a row. */
interface RowRun {
  readonly sink: SinkProcess;
  readonly rounds: number;
  readonly peers: readonly string[];
}

function chosenRows(args: readonly string[]): (keyof typeof rows)[] {
  const names = args.filter((arg) => !arg.startsWith('--'));
  for (const name of names) {
    if (!(name in rows)) {
      throw new Error(`Unknown row "${name}"; use one of ${Object.keys(rows).join(', ')}.`);
    }
  }
  return (names.length > 0 ? names : Object.keys(rows)) as (keyof typeof rows)[];
}

/**
 * Names of rows choose what is measured: `toolcall`, `langchain`, `drain`, `large`, `origins`; all without one.
 * Options: `--rounds=N` (default 5; calls are measured in two short turns a round, of three processes each), `--no-peers`,
 * `--json`.
 */
export async function run(args: string[]): Promise<Record<string, unknown>> {
  const chosen = chosenRows(args);
  const rounds = Number(args.find((arg) => arg.startsWith('--rounds='))?.slice('--rounds='.length) ?? 5);
  // LangChain itself is installed together with the other recorders.
  const hasPeers = chosen.includes('langchain') && !args.includes('--no-peers') && ensurePeers();
  const sink = await SinkProcess.start();
  const result: Record<string, unknown> = {};
  try {
    for (const name of chosen) {
      if (name === 'langchain' && !hasPeers) continue;
      const tables = await rows[name]({ sink, rounds, peers: peerNames });
      Object.assign(result, tables);
      if (args.includes('--json')) continue;
      for (const [title, table] of Object.entries(tables)) {
        console.log(`\n${title}`);
        console.table(table);
      }
    }
  } finally {
    sink.stop();
  }
  return result;
}
