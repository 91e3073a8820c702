import { readDeadLetters } from '@actlog/recorder/spool';
import { countOf } from '../../spool/count-of.ts';
import { type Check, found, type Outcome, ok } from '../check.ts';
import { known } from '../known.ts';

/** Check of the events that the service rejected permanently. */
export const deadLetters: Check = {
  id: 'dead-letters',
  title: 'Dead letters',
  requires: ['spool-folder'],
  run({ spool }) {
    const problems = known(spool).tenants.flatMap(({ folder }) => lettersIn(folder));
    return problems.length > 0 ? problems : ok('none');
  },
};

function lettersIn(folder: string): Outcome[] {
  try {
    const letters = [...readDeadLetters(folder)];
    const last = letters.at(-1);
    if (!last) return [];
    const reason = last.reason.replace(/\.$/, '');
    return [
      found('dead-letters', {
        count: countOf(letters.length, 'event'),
        time: last.deadLetteredAt,
        reason,
        path: folder,
      }),
    ];
  } catch (error) {
    return [found('dead-letters-unreadable', { problem: (error as Error).message })];
  }
}
