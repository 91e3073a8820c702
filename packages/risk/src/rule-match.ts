import type { RuleMatch } from './rule.ts';
import { type SessionView, stampTallyOf } from './session/session-view.ts';
import type { StampName } from './stamp-name.ts';

/** Creates a match for the given events of the log; undefined if there are none. */
export function matched(
  events: readonly { readonly eventId: string }[],
  strength: number,
  explanation: string,
  count?: number,
): RuleMatch | undefined {
  if (events.length === 0) return undefined;
  const eventIds = [...new Set(events.map((event) => event.eventId))].slice(0, 5);
  return { strength, eventIds, count: Math.max(count ?? 0, eventIds.length), explanation };
}

/** Formats a count with its noun: "1 call", "3 calls". */
export function counted(count: number, noun: string): string {
  return `${count} ${noun}${count === 1 ? '' : 's'}`;
}

/** Creates a match for the events that have a stamp; undefined if there are none. */
export function stamped(
  view: SessionView,
  stamp: StampName,
  strength: number,
  explanation: string,
): RuleMatch | undefined {
  const tally = stampTallyOf(view, stamp);
  if (tally.count === 0) return undefined;
  const first = { eventId: tally.firstId };
  const last = { eventId: tally.lastId };
  return matched(tally.count > 1 ? [first, last] : [first], strength, explanation, tally.count);
}
