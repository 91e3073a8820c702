import { type OverviewSpan, spanStart } from './overview-span.ts';

/** Maximum waiting actions that the overview shows. */
export const shownActions = 5;

/** Returns the query of the overview of a span up to a time. */
export function overviewQuery(span: OverviewSpan, until: Date): { since: string; interval: string } {
  return { since: spanStart(span, until).toISOString(), interval: span.interval };
}
