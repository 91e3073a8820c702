import type { Actlog, ItemSequence, StoredEvent } from '@actlog/client';
import type { RequestOptions } from '../request/request-options.ts';
import { defaultLimit, serverList, timeText } from './server-list.ts';

/** Filters of {@link searchEvents}. An event must pass all of them. */
export interface EventFilters {
  readonly agentId?: string | undefined;
  readonly sessionId?: string | undefined;
  /** Only calls of this tool. */
  readonly toolName?: string | undefined;
  readonly category?: string | undefined;
  /**
   * Only tool calls with this outcome: `denied` for the `responseStatus` 403, `error` for any other of 400 or more, `ok`
   * for the rest.
   */
  readonly status?: 'ok' | 'error' | 'denied' | undefined;
  /** Only calls with arguments of this hash, such as `sha256:…`. */
  readonly argumentsHash?: string | undefined;
  /** Earliest time of an event (inclusive): a date, or ISO 8601. */
  readonly since?: Date | string | undefined;
  /** Time before which the event happened (exclusive): a date, or ISO 8601. */
  readonly until?: Date | string | undefined;
  /** Events in one response, 1 to 200. Default: 200. */
  readonly limit?: number | undefined;
}

/**
 * Searches the events of all sessions, newest first: `GET /server/v1/events`. Pages are requested as they are needed.
 * Needs a key with the scope `read`.
 *
 * @throws ValidationError When no event can pass the filters, such as a `status` with another category than `tool_api`.
 * @throws NotFoundError When the service is not the actlog server, or an older one.
 *
 * @example
 * ```ts
 * import { searchEvents } from '@actlog/client/server';
 *
 * const since = new Date(Date.now() - 86_400_000);
 * for await (const { sessionId, payload } of searchEvents(client, { since, status: 'denied' })) {
 *   console.log(sessionId, payload.toolName);
 * }
 * ```
 */
export function searchEvents(
  client: Actlog,
  filters: EventFilters = {},
  options: RequestOptions = {},
): ItemSequence<StoredEvent> {
  const { since, until, limit = defaultLimit, ...rest } = filters;
  const query = { ...rest, limit, since: timeText(since), until: timeText(until) };
  return serverList(client, { path: '/server/v1/events', query }, options);
}
