import { callCount, journalScenarios, type Loss, type Scenario, sharedScenarios } from './loss/scenarios.ts';
import { ensurePeers, peerNames } from './recorder/peer-packages.ts';
import { SinkProcess } from './recorder/sink-process.ts';

/** What this benchmark measures, in a line. */
export const description =
  'Events that are lost or stored twice under faults, crashes and ends, beside other recorders';

/** One recorder through one scenario, with a sink that has forgotten everything else. */
async function runOne(scenario: Scenario, recorder: string, sink: SinkProcess): Promise<Loss> {
  await sink.forget();
  return scenario(recorder, sink);
}

/**
 * Options: `--no-peers`, `--only=TEXT` (scenarios whose name holds it), `--json`.
 */
export async function run(args: string[]): Promise<Record<string, unknown>> {
  const only = args.find((arg) => arg.startsWith('--only='))?.slice('--only='.length) ?? '';
  const peers = !args.includes('--no-peers') && ensurePeers() ? peerNames : [];
  const sink = await SinkProcess.start();
  const losses: Record<string, Record<string, Loss>> = {};
  try {
    for (const [name, scenario] of Object.entries({ ...sharedScenarios, ...journalScenarios })) {
      if (!name.includes(only)) continue;
      const row: Record<string, Loss> = { actlog: await runOne(scenario, 'actlog', sink) };
      if (name in sharedScenarios) {
        for (const peer of peers) row[peer] = await runOne(scenario, peer, sink);
      }
      losses[name] = row;
      if (!args.includes('--json')) console.log(lineOf(name, row));
    }
  } finally {
    sink.stop();
  }
  return { callCount, losses };
}

function lineOf(name: string, row: Record<string, Loss>): string {
  const cells = Object.entries(row).map(
    ([recorder, { made, lost, named, repeated }]) =>
      `${recorder}: ${lost} of ${made} lost${named ? `, ${named} named` : ''}${recorder === 'actlog' ? `, ${repeated} sent again` : ''}`,
  );
  return `${name.padEnd(46)} ${cells.join(' · ')}`;
}
