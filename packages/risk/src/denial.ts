import { ENTRY_KINDS, type LogEntry } from './session/event-log.ts';
import { OUTCOME_MARKS } from './session/mark.ts';

const DENIALS = (['policy_denied', 'refused'] as const).map((kind) => ENTRY_KINDS.indexOf(kind));
const THROTTLED = OUTCOME_MARKS.indexOf('throttled');

/** `true` if an entry forbids an action. An exceeded rate does not: it only means "not now". */
export function forbids({ kind, outcome }: LogEntry): boolean {
  return DENIALS.includes(kind) && outcome !== THROTTLED;
}
