import { ENTRY_KINDS, type LogEntry } from './session/event-log.ts';
import { OUTCOME_MARKS } from './session/mark.ts';

const DENIALS = (['policy_denied', 'refused'] as const).map((kind) => ENTRY_KINDS.indexOf(kind));
const THROTTLED = OUTCOME_MARKS.indexOf('throttled');

/** Whether an entry says that an action must not be done: a rate that was exceeded only says "not now". */
export function forbids({ kind, outcome }: LogEntry): boolean {
  return DENIALS.includes(kind) && outcome !== THROTTLED;
}
