import type { EventPage } from '@actlog/protocol';
import { pageQuery } from '@actlog/protocol/schemas';
import * as z from 'zod';
import { type Cursors, readPage } from '../http/page.ts';
import { requireScope } from '../http/request-gate.ts';
import type { ServerRoute } from '../http/server-route.ts';
import { validationError } from '../lib/api-error.ts';
import { isoTime, timeMs } from '../lib/iso-time.ts';
import type { EventReader } from '../storage/event-reader.ts';

/** Parts of {@link eventsRoute}. */
export interface EventSearchParts {
  readonly events: EventReader;
  readonly cursors: Cursors;
}

/** Route `GET /server/v1/events`: events of all sessions, newest first. */
export function eventsRoute({ events, cursors }: EventSearchParts): ServerRoute<typeof eventsQuery> {
  return {
    method: 'GET',
    path: '/events',
    success: 200,
    query: eventsQuery,
    check: (caller) => requireScope(caller, 'read'),
    async handle({ caller: { tenantId }, query }): Promise<EventPage> {
      const { limit: _limit, cursor: _cursor, since, until, ...filters } = query;
      requirePossible(query);
      let searchedToMs: number | undefined;
      let isHistoryMissing: boolean | undefined;
      const { rows, nextCursor } = await readPage(
        cursors,
        { tenantId, endpoint: 'events', filters: query },
        query,
        async ({ after, limit }) => {
          const found = await events.search({
            ...filters,
            tenantId,
            sinceMs: since,
            untilMs: until,
            after: after && { place: after[0] as number, eventId: after[1] as string },
            limit,
          });
          ({ searchedToMs, isHistoryMissing } = found);
          const { end } = found;
          return {
            rows: [...found.events],
            hasMore: end !== undefined,
            endPosition: end && [end.place, end.eventId],
          };
        },
        ({ position: { place, eventId } }) => [place, eventId],
      );
      return {
        items: rows.map(({ event }) => event),
        nextCursor,
        ...(searchedToMs !== undefined && { searchedTo: isoTime(searchedToMs) }),
        ...(isHistoryMissing && { isHistoryMissing }),
      };
    },
  };
}

/** Fields that only tool calls have. */
const callFields = ['toolName', 'status', 'argumentsHash'] as const;

/** @throws ApiError `VALIDATION_ERROR` for filters that no event can pass. */
function requirePossible(query: z.output<typeof eventsQuery>): void {
  const { category, since, until } = query;
  if (since !== undefined && until !== undefined && since >= until) {
    throw validationError('query.since', 'empty_range', 'must be before `until`');
  }
  const field = callFields.find((name) => query[name] !== undefined);
  if (field === undefined || category === undefined || category === 'tool_api') return;
  throw validationError(
    'query.category',
    'no_match',
    `must be "tool_api", or be left out, because only tool calls have \`${field}\``,
  );
}

/** Query of `GET /server/v1/events`. */
const eventsQuery = z.strictObject({
  ...pageQuery.shape,
  /** Only events of this agent. */
  agentId: z.string().min(1).optional(),
  /** Only events of this session. */
  sessionId: z.string().min(1).optional(),
  /** Only calls of this tool. */
  toolName: z.string().min(1).optional(),
  /** Only events of this category. */
  category: z.string().min(1).optional(),
  /** Only tool calls that succeeded, failed (a `responseStatus` of 400 or more) or were denied (403). */
  status: z.enum(['ok', 'error', 'denied']).optional(),
  /** Only calls with arguments of this hash. */
  argumentsHash: z.string().min(1).optional(),
  /** Earliest source time (inclusive). */
  since: timeMs.optional(),
  /** Time before which the event happened (exclusive). */
  until: timeMs.optional(),
});
