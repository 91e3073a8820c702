import type { Actlog } from '@actlog/client';
import { bucketTime } from '../clock.ts';

/** Fields of a search for sessions, by their names in the address. */
const searchFields = [
  'agent',
  'agentContains',
  'tool',
  'id',
  'level',
  'status',
  'risk',
  'assignee',
  'since',
  'from',
  'until',
  'order',
] as const;

/** A search for sessions as the address has it. A field that is not in the address is empty. */
export type SessionSearch = Readonly<Record<(typeof searchFields)[number], string>>;

type ListQuery = NonNullable<Parameters<Actlog['sessions']['list']>[0]>;

/** Hours of the time presets, by their names in the address. */
export const presetHours: Readonly<Record<string, number>> = {
  '1h': 1,
  '24h': 24,
  '7d': 7 * 24,
  '30d': 30 * 24,
};

/** Time presets in words; empty for none. */
export const presetTimes = {
  '': 'any time',
  '1h': 'last hour',
  '24h': 'last 24 hours',
  '7d': 'last 7 days',
  '30d': 'last 30 days',
};

/** Reads a search from the query of an address. */
export function readSearch(query: URLSearchParams): SessionSearch {
  const fields = searchFields.map((field) => [field, query.get(field)?.trim() ?? '']);
  return Object.fromEntries(fields) as SessionSearch;
}

/** Returns the search without some fields, as the query of an address. */
export function searchWithout(
  search: SessionSearch,
  ...without: readonly (keyof SessionSearch)[]
): Record<string, string> {
  return Object.fromEntries(Object.entries(search).filter(([field]) => !without.includes(field as 'id')));
}

/** Returns the parameters of the list of sessions. Values that the list does not have are ignored. */
export function listQuery(search: SessionSearch, now: Date): ListQuery {
  const { agent, agentContains, tool, id, risk, since, from, until, order } = search;
  const hours = presetHours[since];
  const level = (['low', 'medium', 'high', 'critical'] as const).find((each) => each === search.level);
  const status = (['errors', 'denied', 'held'] as const).find((each) => each === search.status);
  const minRiskScore = Number(risk);
  return {
    ...(agent && { agentId: agent }),
    ...(agentContains && { agentIdContains: agentContains }),
    ...(tool && { toolName: tool }),
    ...(id && { idContains: id }),
    ...(level && { level }),
    ...(status && { status }),
    ...(risk && minRiskScore >= 0 && minRiskScore <= 100 && { minRiskScore }),
    ...(isMoment(since) || isMoment(until)
      ? startedBetween(since, until)
      : hours === undefined
        ? startedWithin(from, until)
        : { startedAfter: new Date(now.getTime() - hours * 3_600_000).toISOString() }),
    ...(order === 'risk' && { sort: 'riskScore' as const }),
  };
}

/** Value of `assignee` in the address for sessions that are assigned to nobody. No person has such a name. */
export const nobody = '-';

/** Returns the parameters that only the list of the actlog server has; undefined if none is wanted. */
export function assigneeQuery({ assignee }: SessionSearch): Readonly<Record<string, string>> | undefined {
  if (assignee === '') return undefined;
  return assignee === nobody ? { assigned: 'false' } : { assignee };
}

/** A filter that is set, in words, with the fields that it consists of. */
export interface SetFilter {
  readonly words: string;
  readonly fields: readonly (keyof SessionSearch)[];
}

const statusWords: Readonly<Record<string, string>> = {
  errors: 'with failed calls',
  denied: 'with denied actions',
  held: 'with held actions',
};

const presetWords: Readonly<Record<string, string>> = {
  '1h': 'of the last hour',
  '24h': 'of the last 24 hours',
  '7d': 'of the last 7 days',
  '30d': 'of the last 30 days',
};

/** Returns the filters that are set, in words. The order is not a filter. */
export function setFilters(search: SessionSearch): readonly SetFilter[] {
  const { agent, agentContains, tool, id, level, status, risk, assignee, since, from, until } = search;
  const filters: readonly (SetFilter & { readonly isSet: boolean })[] = [
    { isSet: agent !== '', words: `of the agent “${agent}”`, fields: ['agent'] },
    {
      isSet: agentContains !== '',
      words: `of agents with “${agentContains}”`,
      fields: ['agentContains'],
    },
    { isSet: tool !== '', words: `that called “${tool}”`, fields: ['tool'] },
    { isSet: id !== '', words: `with “${id}” in the id`, fields: ['id'] },
    { isSet: level !== '', words: `of the level ${level}`, fields: ['level'] },
    { isSet: status !== '', words: statusWords[status] ?? status, fields: ['status'] },
    { isSet: risk !== '', words: `with a score from ${risk}`, fields: ['risk'] },
    {
      isSet: assignee !== '',
      words: `assigned to ${assignee === nobody ? 'nobody' : assignee}`,
      fields: ['assignee'],
    },
    {
      isSet: isMoment(since) || isMoment(until),
      words: `started ${spanWords(since, until)}`,
      fields: ['since', 'until'],
    },
    {
      isSet: since !== '' && !isMoment(since),
      words: presetWords[since] ?? since,
      fields: ['since'],
    },
    {
      isSet: since === '' && !isMoment(until) && (from !== '' || until !== ''),
      words: `started ${[from && `from ${from}`, until && `until ${until}`].filter(Boolean).join(' ')}`,
      fields: ['from', 'until'],
    },
  ];
  return filters.filter(({ isSet }) => isSet);
}

/** `true` for a time of an address, such as `2026-11-23T14:00:00.000Z`, which is no preset and no day. */
export function isMoment(text: string): boolean {
  return text.includes('T') && !Number.isNaN(Date.parse(text));
}

/** Returns the filter for sessions that started from one time (inclusive) until another (exclusive). */
function startedBetween(
  since: string,
  until: string,
): { readonly startedAfter?: string; readonly startedBefore?: string } {
  return {
    // The bounds of the service are exclusive.
    ...(isMoment(since) && { startedAfter: new Date(Date.parse(since) - 1).toISOString() }),
    ...(isMoment(until) && { startedBefore: new Date(until).toISOString() }),
  };
}

/** Formats a span of time in words. */
export function spanWords(since: string, until: string): string {
  const text = (at: string) => (isMoment(at) ? bucketTime(at, 'hour') : at);
  return [since && `from ${text(since)}`, until && `until ${text(until)}`].filter(Boolean).join(' ');
}

/** Returns the start of a day such as `2026-11-23` in local time; NaN for an invalid day. */
function startOfDay(day: string, daysLater = 0): number {
  const [year = Number.NaN, month = 1, date = 1] = day.split('-').map(Number);
  return new Date(year, month - 1, date + daysLater).getTime();
}

/**
 * Returns the filter for sessions that started between two days, both included, in local time. Invalid days are
 * ignored.
 */
function startedWithin(
  from: string,
  until: string,
): { readonly startedAfter?: string; readonly startedBefore?: string } {
  // The bounds of the service are exclusive.
  const [after, before] = [startOfDay(from) - 1, startOfDay(until, 1)];
  return {
    ...(after >= 0 && { startedAfter: new Date(after).toISOString() }),
    ...(before >= 0 && { startedBefore: new Date(before).toISOString() }),
  };
}
