import fc from 'fast-check';
import { expect, test } from 'vitest';
import {
  breakableFiles,
  endOwners,
  numberedEvent,
  numberOf,
  openTestJournal,
  recoverAll,
  temporaryFolder,
} from '../../tests/journal-fixture.ts';
import type { QueuedEvent } from '../delivery/session-queues.ts';
import { realFiles } from './segment.ts';

class Killed extends Error {}

const step = fc.oneof(
  { weight: 6, arbitrary: fc.constant('append' as const) },
  { weight: 3, arbitrary: fc.constant('spill' as const) },
  { weight: 4, arbitrary: fc.constant('settle' as const) },
  { weight: 2, arbitrary: fc.constant('read' as const) },
  { weight: 1, arbitrary: fc.constant('write-settled' as const) },
  { weight: 1, arbitrary: fc.constant('adopt' as const) },
  { weight: 1, arbitrary: fc.constant('evict' as const) },
);

/** Facts known to the process when it was stopped. */
interface Witness {
  /** Events that `append` reported to be on disk, and that were neither settled nor evicted. */
  readonly owed: Set<number>;
  /** All events ever passed to `append`. */
  readonly known: Set<number>;
  next: number;
}

/** Runs the steps until operation number `killAt`, which happens only in part if it is a write. */
function runUntilKilled(
  root: string,
  steps: readonly string[],
  killAt: number,
  part: number,
  witness: Witness,
): void {
  let operations = 0;
  const files = breakableFiles((name, args) => {
    operations += 1;
    if (operations < killAt) return;
    if (operations === killAt && name === 'append') {
      const text = String(args[1]);
      realFiles.append(args[0] as number, text.slice(0, Math.floor(text.length * part)));
    }
    throw new Killed();
  });
  try {
    const { journal } = openTestJournal(root, { files });
    journal.adopt(Date.now());
    const inMemory: QueuedEvent[] = [];
    for (const [index, name] of steps.entries()) {
      if (operations >= killAt) return;
      if (name === 'append' || name === 'spill') {
        const event = numberedEvent(witness.next++);
        const isLoaded = name === 'append' && !journal.hasUnread;
        witness.known.add(numberOf(event));
        if (journal.append(event, isLoaded, index * 10_000)) {
          witness.owed.add(numberOf(event));
          if (isLoaded) inMemory.push(event);
        }
      } else if (name === 'read') inMemory.push(...journal.readMore());
      else if (name === 'write-settled') journal.writeSettled();
      else if (name === 'adopt') journal.adopt(Date.now());
      else if (name === 'evict') {
        for (const event of journal.evictOldest((each) => each.isImportant, index * 10_000)) {
          witness.owed.delete(numberOf(event));
          if (inMemory.includes(event)) inMemory.splice(inMemory.indexOf(event), 1);
        }
      } else {
        const event = inMemory.splice((index * 7) % Math.max(1, inMemory.length), 1)[0];
        if (event) witness.owed.delete(numberOf(event));
        event?.settle();
      }
    }
  } catch (error) {
    if (!(error instanceof Killed)) throw error;
  }
}

test('recovers every promised event exactly once after a stop at any operation', () => {
  fc.assert(
    fc.property(
      fc.array(step, { minLength: 1, maxLength: 40 }),
      fc.array(
        fc.record({
          killAt: fc.integer({ min: 1, max: 120 }),
          part: fc.double({ min: 0, max: 1, noNaN: true }),
        }),
        {
          minLength: 1,
          maxLength: 3,
        },
      ),
      (steps, lives) => {
        const root = temporaryFolder();
        const witness: Witness = { owed: new Set(), known: new Set(), next: 0 };
        for (const { killAt, part } of lives) {
          runUntilKilled(root, steps, killAt, part, witness);
          endOwners(root);
        }
        const found = recoverAll(root).events.map(numberOf);
        expect(new Set(found).size).toBe(found.length);
        for (const number of witness.owed) expect(found).toContain(number);
        for (const number of found) expect(witness.known).toContain(number);
      },
    ),
    { numRuns: 300 },
  );
});
