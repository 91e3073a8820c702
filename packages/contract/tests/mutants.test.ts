import { expect, it } from 'vitest';
import { requirements } from '../src/index.ts';
import { mutantGroups } from './mutants/groups.ts';
import type { Mutant } from './mutants/mutant.ts';

const all: readonly Mutant[] = Object.values(mutantGroups).flatMap(({ mutants }) => [...mutants]);

/** Requirements that no fault of a deployment can break. */
const beyondFaults = [
  'AUT-08', // tests the client
  'LIM-03', // tests the client
];

it('every MUST detects a fault', () => {
  const caught = new Set(all.flatMap(({ caughtBy }) => caughtBy));
  const blind = requirements
    .filter(({ id, level }) => level === 'MUST' && !caught.has(id))
    .map(({ id }) => id);
  expect(blind).toEqual(beyondFaults);
});

it('are many', () => {
  expect(all.length).toBeGreaterThanOrEqual(200);
  expect(new Set(all.map(({ name }) => name)).size).toBe(all.length);
});
