import { now } from '../clock.ts';

const full = new Intl.DateTimeFormat(undefined, { dateStyle: 'medium', timeStyle: 'long' });
// In the language of the sentences that it stands in.
const relative = new Intl.RelativeTimeFormat('en', { numeric: 'auto', style: 'short' });

const units = [
  ['day', 86_400_000],
  ['hour', 3_600_000],
  ['minute', 60_000],
  ['second', 1000],
] as const;

/** How far a moment is from another, in the largest unit that fits: "3 min. ago", "in 2 days". */
export function distance(moment: Date, from: Date): string {
  const ms = moment.getTime() - from.getTime();
  const [unit, size] = units.find(([, length]) => Math.abs(ms) >= length) ?? ['second', 1000];
  return relative.format(Math.trunc(ms / size), unit);
}

/**
 * The whole of a moment: by the clock on the wall with its time zone, as a night may have an hour twice, and as the
 * service has it, to be looked up elsewhere. What is no moment stays as it came.
 */
export function wholeTime(at: string): string {
  const moment = new Date(at);
  return Number.isNaN(moment.getTime()) ? at : `${full.format(moment)} (${at})`;
}

/** A moment, by its distance from now; the whole of it when it is pointed at or printed. What is no moment stays as it came. */
export function Time({ at }: { at: string | null | undefined }) {
  if (!at) return <span class="faint">never</span>;
  const moment = new Date(at);
  if (Number.isNaN(moment.getTime())) return <>{at}</>;
  return (
    <time dateTime={at} title={wholeTime(at)} translate={false}>
      {distance(moment, now())}
    </time>
  );
}
