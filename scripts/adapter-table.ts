// Writes the tables of docs/adapters.md from the harnesses, whose abilities the shared suite verifies.
import type { AdapterHarness } from '../testing/adapter-suite/src/index.ts';
import { adapterHarnesses } from './adapter-harnesses.ts';
import { holdGeneratedPart } from './generated-part.ts';

function seenAs(status: number | 'unseen'): string {
  return status === 'unseen' ? 'not seen' : String(status);
}

function endOfRetries(maxDenials: number | 'caller'): string {
  return maxDenials === 'caller' ? 'your loop ends it' : `≤ ${maxDenials} denials`;
}

function seenTexts({ user, system, results }: AdapterHarness['abilities']['origins']): string {
  const seen = [user && 'user', system && 'system', results && 'results'].filter(Boolean);
  return seen.length === 3 ? 'all' : seen.join(', ');
}

function sessionSource({ abilities, chat }: AdapterHarness): string {
  const own = abilities.hasSession ? ["the framework's"] : [];
  return [...own, ...(chat ? ['earlier calls in its messages'] : []), '`sessionId`']
    .slice(0, 2)
    .join(', else ');
}

function packageOf({ sdk }: AdapterHarness): string {
  return `\`${sdk.slice(0, sdk.lastIndexOf('/'))}\``;
}

function row(harness: AdapterHarness): string {
  const { hook = '', abilities } = harness;
  const { guards, holds, aborts, streams, maxDenials, origins, changes } = abilities;
  const cells = [
    packageOf(harness),
    hook,
    guards ? 'yes' : 'no',
    holds ? (aborts ? 'yes' : 'yes; the run has no signal') : 'no: denied at once',
    guards && holds && changes ? (changes === 'noticed' ? 'yes, and tells the model' : 'yes') : 'no',
    streams ? 'yes' : '–',
    sessionSource(harness),
    guards ? endOfRetries(maxDenials) : '–',
    seenTexts(origins),
  ];
  return `| ${(guards ? cells : cells.with(3, 'no')).join(' | ')} |`;
}

function table(rows: readonly AdapterHarness[]): string {
  return [
    '| package | hook | stops a denied call | holds for approval | runs changed arguments | streaming | session | the model repeats a denied call | texts for origins |',
    '|---|---|---|---|---|---|---|---|---|',
    ...rows.map(row),
    '',
  ].join('\n');
}

/** Returns the statuses that a hook gives, in the order of the table's columns. */
function statuses({ abilities }: AdapterHarness): string {
  const { thrown, invalidArguments, unknownTool, aborts, aborted, timedOut } = abilities;
  const ofSignal = aborts ? [seenAs(aborted), seenAs(timedOut)] : ['–', '–'];
  return [seenAs(thrown), seenAs(invalidArguments), seenAs(unknownTool), ...ofSignal].join(' | ');
}

/** Merges the rows of a package's hooks that give the same statuses. */
function statusRows(harnesses: readonly AdapterHarness[]): string[] {
  const packages = Map.groupBy(harnesses, packageOf);
  return [...packages].flatMap(([name, ofPackage]) => {
    const groups = Map.groupBy(ofPackage, statuses);
    return [...groups].map(([cells, group]) => {
      const hooks = groups.size === 1 ? 'all' : group.map(({ hook = '' }) => hook).join('; ');
      return `| ${name} | ${hooks} | ${cells} |`;
    });
  });
}

function statusTable(rows: readonly AdapterHarness[]): string {
  return [
    '| package | hooks | a tool throws an error with `status: 502` | invalid arguments | unknown tool | aborted while it runs | ended by `AbortSignal.timeout()` |',
    '|---|---|---|---|---|---|---|',
    ...statusRows(rows),
    '',
  ].join('\n');
}

const harnesses = await adapterHarnesses();
holdGeneratedPart('adapters.md', table(harnesses));
holdGeneratedPart('adapters.md', statusTable(harnesses), 'statuses');
