import type { EventMark } from './event-marks.ts';

/** Number of reasons that are named; the details of the event name all. */
const mostReasons = 2;

/** Names the strongest reasons why an event stands out. */
export function markReasons({ factors }: EventMark): string {
  const strongest = factors.toSorted((one, other) => other.delta - one.delta);
  const titles = [...new Set(strongest.map(({ title }) => title))];
  const more = titles.length - mostReasons;
  return [...titles.slice(0, mostReasons), ...(more > 0 ? [`${more} more`] : [])].join(' · ');
}
