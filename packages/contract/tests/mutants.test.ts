import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { type ContractReport, requirements, runContract } from '../src/index.ts';
import { Deployment } from './deployment.ts';
import { eventMutants } from './mutants/events.ts';
import { keyMutants } from './mutants/keys.ts';
import type { Mutant } from './mutants/mutant.ts';
import { readingMutants } from './mutants/reading.ts';
import { recordMutants } from './mutants/records.ts';
import { referenceMutants } from './mutants/reference.ts';

/** Faults, with the requirements that are checked for them. Others are left out to save time. */
const groups: readonly (readonly [about: string, mutants: readonly Mutant[], only: readonly string[]])[] = [
  ['events', eventMutants, ['SVC-03', 'SVC-04', 'EVT', 'ACK', 'ING', 'END-01', 'END-03', 'END-05', 'ERR-0']],
  ['reading', readingMutants, ['SVC-04', 'RES', 'PAG', 'END-0', 'END-10', 'END-2', 'RSK', 'LST', 'ERR-01']],
  ['records', recordMutants, ['END', 'STA', 'LST-05', 'EVT', 'AUT-07']],
  ['keys', keyMutants, ['AUT', 'SVC-02', 'ERR', 'END-22', 'LIM', 'EVT-01']],
  ['the reference profile', referenceMutants, ['PRF', 'END']],
];

let deployment: Deployment;

beforeAll(async () => {
  deployment = await Deployment.start();
});

afterAll(() => deployment.close());

async function judge({ fault, options }: Mutant, only: readonly string[]): Promise<ContractReport> {
  const keys = await deployment.newKeys();
  deployment.proxy.fault = fault(keys);
  return runContract({
    baseURL: deployment.proxy.url,
    apiKey: keys.own,
    secondTenantKey: keys.other,
    retiredKey: keys.retired,
    settleMs: 0,
    clock: { sleep: async () => {} },
    only,
    ...options,
  });
}

function failedIn({ requirements: results }: ContractReport): string[] {
  return results
    .filter(({ status }) => status === 'failed')
    .map(({ id, level }) => (level === 'MUST' ? id : `*${id}`));
}

describe.each(groups)('faults of %s', (_about, all, only) => {
  it.each(all)('$name', async (mutant) => {
    const report = await judge(mutant, only);
    expect(failedIn(report).sort()).toEqual([...mutant.caughtBy].sort());
    expect(report.ok).toBe(mutant.caughtBy.every((id) => id.startsWith('*')));
  });
});

/** Requirements that no fault of a deployment can break. */
const beyondFaults = [
  'RSK-03', // names of factors are open, so missing ones are only noted
  'AUT-08', // tests the client
  'LIM-03', // tests the client
];

it('every MUST detects a fault', () => {
  const caught = new Set(groups.flatMap(([, mutants]) => mutants.flatMap(({ caughtBy }) => caughtBy)));
  const blind = requirements
    .filter(({ id, level }) => level === 'MUST' && !caught.has(id))
    .map(({ id }) => id);
  expect(blind).toEqual(beyondFaults);
});

it('are many', () => {
  const all = groups.flatMap(([, mutants]) => mutants);
  expect(all.length).toBeGreaterThanOrEqual(40);
  expect(new Set(all.map(({ name }) => name)).size).toBe(all.length);
});
