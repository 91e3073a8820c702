import { callCount, journalScenarios, type Loss, type Scenario, sharedScenarios } from './loss/scenarios.ts';
import { allPeerNames, ensurePeers } from './recorder/peer-packages.ts';
import { SinkProcess } from './recorder/sink-process.ts';

/** One-line description of this benchmark. */
export const description =
  'Events that are lost or stored twice under faults, crashes and exits, compared with other recorders';

/** Runs one recorder through one scenario with a reset sink. */
async function runOne(scenario: Scenario, recorder: string, sink: SinkProcess): Promise<Loss> {
  await sink.forget();
  return scenario(recorder, sink);
}

/** Formats one cell of the table. */
function cellOf({ made, lost, named, repeated, doubled }: Loss, isOurs: boolean): string {
  const kept = named > 0 ? ` + ${named} named` : '';
  return `${lost}${kept} of ${made}${isOurs ? `, ${doubled} doubled (${repeated} sent again)` : ''}`;
}

/**
 * Options: `--no-peers`, `--recorders=NAMES` (comma-separated; default: all), `--only=TEXT` (scenarios whose name
 * contains it), `--json`.
 */
export async function run(args: string[]): Promise<Record<string, unknown>> {
  const only = args.find((arg) => arg.startsWith('--only='))?.slice('--only='.length) ?? '';
  const chosen = args
    .find((arg) => arg.startsWith('--recorders='))
    ?.slice('--recorders='.length)
    .split(',');
  const all = ['actlog', ...(!args.includes('--no-peers') && ensurePeers() ? allPeerNames : [])];
  const named = all.filter((name) => chosen?.includes(name) ?? true);
  const sink = await SinkProcess.start();
  const losses: Record<string, Record<string, Loss>> = {};
  const table: Record<string, Record<string, string>> = {};
  try {
    for (const [name, scenario] of Object.entries({ ...sharedScenarios, ...journalScenarios })) {
      if (!name.includes(only)) continue;
      const recorders = named.filter((recorder) => recorder === 'actlog' || name in sharedScenarios);
      if (recorders.length === 0) continue;
      const row: Record<string, Loss> = {};
      for (const recorder of recorders) row[recorder] = await runOne(scenario, recorder, sink);
      losses[name] = row;
      table[name] = Object.fromEntries(
        Object.entries(row).map(([recorder, loss]) => [recorder, cellOf(loss, recorder === 'actlog')]),
      );
      console.error(`${name} …`);
    }
  } finally {
    sink.stop();
  }
  if (!args.includes('--json')) {
    console.log(`Events lost of ${callCount} calls, or of as many as were made before the end`);
    console.table(table);
  }
  return { callCount, losses };
}
