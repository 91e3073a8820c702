// Writes the table of docs/adapters.md from the harnesses, whose abilities the shared suite proves.
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

function row(harness: AdapterHarness): string {
  const { sdk, hook = '', abilities } = harness;
  const { guards, holds, aborts, thrown, streams, maxDenials, origins } = abilities;
  const { invalidArguments, unknownTool } = abilities;
  const cells = [
    `\`${sdk.slice(0, sdk.lastIndexOf('/'))}\``,
    hook,
    guards ? 'yes' : 'no',
    holds ? (aborts ? 'yes' : 'yes; the run has no signal') : 'no: denied at once',
    seenAs(thrown),
    seenAs(invalidArguments),
    seenAs(unknownTool),
    streams ? 'yes' : '–',
    sessionSource(harness),
    guards ? endOfRetries(maxDenials) : '–',
    seenTexts(origins),
  ];
  return `| ${(guards ? cells : cells.with(3, 'no')).join(' | ')} |`;
}

function table(rows: readonly AdapterHarness[]): string {
  return [
    '| package | hook | stops a denied call | holds for approval | a tool throws a 502 | invalid arguments | unknown tool | streaming | session | the model repeats a denied call | texts for origins |',
    '|---|---|---|---|---|---|---|---|---|---|---|',
    ...rows.map(row),
    '',
  ].join('\n');
}

holdGeneratedPart('adapters.md', table(await adapterHarnesses()));
