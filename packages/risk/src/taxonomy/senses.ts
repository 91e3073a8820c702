import type { NounClass } from './nouns.ts';
import type { VerbClass } from './verbs.ts';

type Senses = Readonly<Partial<Record<NounClass, VerbClass>>>;

/** Verbs that mean something else than they usually do, by what they are done to. */
const SENSES: Readonly<Record<string, Senses>> = {
  transfer: {
    rights: 'admin',
    infrastructure: 'admin',
    file: 'share',
    data: 'share',
    code: 'share',
    message: 'share',
    task: 'write',
    agent: 'delegate',
  },
  checkout: { file: 'write', code: 'write', data: 'write' },
  upgrade: { money: 'pay' },
  call: { infrastructure: 'exec', code: 'exec', web: 'exec', fact: 'exec', agent: 'delegate' },
  use: { infrastructure: 'exec', code: 'exec', web: 'exec', fact: 'exec', agent: 'delegate' },
  evaluate: { code: 'exec', web: 'exec' },
  respond: { message: 'send', opinion: 'send', calendar: 'send', task: 'send' },
  fill: { web: 'drive' },
  select: { web: 'drive' },
  assign: { agent: 'delegate' },
  ask: { agent: 'delegate' },
};

/** What a verb means when it is done to such a thing. */
export function senseOf(word: string, usual: VerbClass, noun: NounClass | undefined): VerbClass {
  const senses = noun === undefined || !Object.hasOwn(SENSES, word) ? undefined : SENSES[word];
  return senses?.[noun as NounClass] ?? usual;
}

const KEEP_IN_PLACE = new Set(
  `move copy mark label tag untag pin unpin star unstar archive unarchive snooze favorite bookmark rename save store
  duplicate backup draft dismiss acknowledge reorder rearrange`.split(/\s+/),
);

/** Whether a verb only puts a thing in order, so that what is done to a message reaches nobody. */
export function keepsInPlace(word: string): boolean {
  return KEEP_IN_PLACE.has(word);
}
