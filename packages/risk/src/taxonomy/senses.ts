import type { NounClass } from './nouns.ts';
import type { VerbClass } from './verbs.ts';

type Senses = Readonly<Partial<Record<NounClass, VerbClass>>>;

/** Verbs whose meaning depends on their object. */
const wordSenses: Readonly<Record<string, Senses>> = {
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

/** Returns the meaning of a verb for an object. */
export function senseOf(word: string, usual: VerbClass, noun: NounClass | undefined): VerbClass {
  const senses = noun === undefined || !Object.hasOwn(wordSenses, word) ? undefined : wordSenses[word];
  return senses?.[noun as NounClass] ?? usual;
}

const keepInPlace = new Set(
  `move copy mark label tag untag pin unpin star unstar archive unarchive snooze favorite bookmark rename save store
  duplicate backup draft dismiss acknowledge reorder rearrange`.split(/\s+/),
);

/** `true` if a verb only organizes objects, so that applying it to a message reaches nobody. */
export function keepsInPlace(word: string): boolean {
  return keepInPlace.has(word);
}
