import type { Actlog } from '@actlog/client';
import type { Overview, OverviewInterval, SessionMarks } from '@actlog/protocol';
import type { RequestOptions } from '../request/request-options.ts';
import { timeText } from './server-list.ts';

/** Span of time of {@link getOverview}. */
export interface OverviewRange {
  /** Earliest time (inclusive): a date, or ISO 8601. Default: 24 hours before `until`. */
  readonly since?: Date | string | undefined;
  /** Latest time (exclusive): a date, or ISO 8601. Default: now. */
  readonly until?: Date | string | undefined;
  /** Length of a bucket of the series; at most 800 buckets fit in a response. Default: `hour`. */
  readonly interval?: OverviewInterval | undefined;
  /**
   * `true` if the riskiest sessions include those that a person handled and whose score has not risen since. Default:
   * false.
   */
  readonly handled?: boolean | undefined;
}

/**
 * Returns what happened in a span of time, and what needs attention: `GET /server/v1/overview`. Needs a key with the
 * scope `read`.
 *
 * @throws ValidationError When the span is empty, or has too many buckets.
 * @throws NotFoundError When the service is not the actlog server, or an older one.
 *
 * @example
 * ```ts
 * import { getOverview } from '@actlog/client/server';
 *
 * const since = new Date(Date.now() - 7 * 86_400_000);
 * const { totals, riskiestSessions } = await getOverview(client, { since });
 * console.log(totals.calls, totals.errors, totals.denials, riskiestSessions[0]?.id);
 * ```
 */
export function getOverview(
  client: Actlog,
  { since, until, interval, handled }: OverviewRange = {},
  options: RequestOptions = {},
): Promise<Overview> {
  const query = { since: timeText(since), until: timeText(until), interval, handled };
  return client.request<Overview>('GET', '/server/v1/overview', { ...options, query });
}

/**
 * Returns what stands out in all events of a session, with what the session did in one sentence:
 * `GET /server/v1/sessions/{id}/marks`. Its cost does not depend on the length of the session. Needs a key with the scope
 * `read`.
 *
 * @throws NotFoundError When the session does not exist, or the service is not the actlog server.
 *
 * @example
 * ```ts
 * import { getSessionMarks } from '@actlog/client/server';
 *
 * const { sentence, counts } = await getSessionMarks(client, 'order-4711');
 * console.log(sentence, counts.errors, counts.denials);
 * ```
 */
export function getSessionMarks(
  client: Actlog,
  sessionId: string,
  options: RequestOptions = {},
): Promise<SessionMarks> {
  return client.request<SessionMarks>(
    'GET',
    `/server/v1/sessions/${encodeURIComponent(sessionId)}/marks`,
    options,
  );
}
