import type { Overview, OverviewInterval } from '@actlog/protocol';
import { timeZone } from './clock.ts';

/** Maximum waiting actions that the overview shows. */
export const shownActions = 5;

/** Returns the query of the overview of a span up to a time. */
export function overviewQuery(span: OverviewSpan, until: Date): { since: string; interval: string } {
  return { since: spanStart(span, until).toISOString(), interval: span.interval };
}

const hourMs = 3_600_000;

/** A span of time that the overview can show, up to now. */
export interface OverviewSpan {
  /** Name in the address. */
  readonly name: string;
  readonly label: string;
  readonly lengthMs: number;
  readonly interval: OverviewInterval;
  /** Length of a bar of the charts in seconds, one or more buckets. */
  readonly barSeconds: number;
  /** Distances between labels of the time axis, in seconds. */
  readonly labelEverySeconds: readonly number[];
}

const day: OverviewSpan = {
  name: '24h',
  label: '24 hours',
  lengthMs: 24 * hourMs,
  interval: 'hour',
  barSeconds: 3600,
  labelEverySeconds: [3, 4, 6, 12].map((hours) => hours * 3600),
};

/** All spans, shortest first. */
export const overviewSpans: readonly OverviewSpan[] = [
  {
    name: '1h',
    label: '1 hour',
    lengthMs: hourMs,
    interval: '5m',
    barSeconds: 300,
    labelEverySeconds: [600, 900, 1200, 1800],
  },
  day,
  {
    name: '7d',
    label: '7 days',
    lengthMs: 7 * 24 * hourMs,
    interval: 'hour',
    barSeconds: 4 * 3600,
    labelEverySeconds: [1, 2, 3].map((days) => days * 86_400),
  },
  {
    name: '30d',
    label: '30 days',
    lengthMs: 30 * 24 * hourMs,
    interval: 'day',
    barSeconds: 86_400,
    labelEverySeconds: [3, 5, 7, 10].map((days) => days * 86_400),
  },
];

/** Returns the span with a name; 24 hours for an unknown one. */
export function overviewSpan(name: string | null): OverviewSpan {
  return overviewSpans.find((span) => span.name === name) ?? day;
}

const secondsOf: Readonly<Record<OverviewInterval, number>> = { '5m': 300, hour: 3600, day: 86_400 };

/** Returns the number of buckets in a bar. */
export function bucketsPerBar({ interval, barSeconds }: OverviewSpan): number {
  return barSeconds / secondsOf[interval];
}

/**
 * Returns the start of a span that ends at a time: the start of a bucket, as the service rounds it. Bars of several hours
 * begin at hours that divide the local day.
 */
function spanStart(span: OverviewSpan, until: Date): Date {
  const bucketMs = secondsOf[span.interval] * 1000;
  const start = new Date(Math.floor((until.getTime() - span.lengthMs) / bucketMs) * bucketMs);
  const hours = bucketsPerBar(span);
  if (hours > 1 && timeZone === 'UTC')
    start.setUTCHours(start.getUTCHours() - (start.getUTCHours() % hours), 0, 0, 0);
  else if (hours > 1) start.setHours(start.getHours() - (start.getHours() % hours), 0, 0, 0);
  return start;
}

/** Returns a span of time as the address of a list has it: of an overview, or of one bucket. */
export function rangeOf({ since, until }: Pick<Overview, 'since' | 'until'>): {
  since: string;
  until: string;
} {
  return { since, until };
}
