import type { Actlog } from '@actlog/client';
import type { SessionReview } from '@actlog/protocol';
import type { RequestOptions } from '../request/request-options.ts';

function pathOf(sessionId: string, rest: 'review' | 'handle' | 'reopen') {
  return `/server/v1/sessions/${encodeURIComponent(sessionId)}/${rest}` as const;
}

/**
 * Returns what people found out about the risk of a session: `GET /server/v1/sessions/:id/review`. Needs a key with the
 * scope `read`.
 *
 * @throws NotFoundError When there is no such session, or the service is not the actlog server.
 */
export function getSessionReview(
  client: Actlog,
  sessionId: string,
  options: RequestOptions = {},
): Promise<SessionReview> {
  return client.request('GET', pathOf(sessionId, 'review'), options);
}

/**
 * Marks a session as handled: `POST /server/v1/sessions/:id/handle`. It leaves the riskiest sessions until its score rises.
 * Needs a key with the scope `decide`.
 *
 * @param reason - what was found out, 1 to 1,000 characters
 * @throws NotFoundError When there is no such session, or the service is not the actlog server.
 *
 * @example
 * ```ts
 * import { getOverview, handleSession } from '@actlog/client/server';
 *
 * const { riskiestSessions } = await getOverview(client);
 * for (const { id } of riskiestSessions) await handleSession(client, id, 'Part of the exercise of Monday.');
 * ```
 */
export function handleSession(
  client: Actlog,
  sessionId: string,
  reason: string,
  options: RequestOptions = {},
): Promise<SessionReview> {
  return client.request('POST', pathOf(sessionId, 'handle'), { ...options, body: { reason } });
}

/**
 * Opens a handled session again: `POST /server/v1/sessions/:id/reopen`. Needs a key with the scope `decide`.
 *
 * @throws NotFoundError When there is no such session, or the service is not the actlog server.
 */
export function reopenSession(
  client: Actlog,
  sessionId: string,
  options: RequestOptions = {},
): Promise<SessionReview> {
  return client.request('POST', pathOf(sessionId, 'reopen'), options);
}
