import type { Actlog, ItemSequence } from '@actlog/client';
import type { Forwarding, LegalHold, LegalHoldDraft, RetentionInForce } from '@actlog/protocol';
import type { RequestOptions } from '../request/request-options.ts';
import { defaultLimit, serverList } from './server-list.ts';

/** Filters of {@link listLegalHolds}. */
export interface LegalHoldFilters {
  /** `true` for holds in force, `false` for those that were released. Default: both. */
  readonly active?: boolean | undefined;
  /** Holds in one response, 1 to 200. Default: 200. */
  readonly limit?: number | undefined;
}

/**
 * Lists the legal holds, newest first: `GET /server/v1/legal-holds`. Pages are requested as they are needed. Needs a key
 * with every scope.
 *
 * @throws NotFoundError When the service is not the actlog server, or an older one.
 */
export function listLegalHolds(
  client: Actlog,
  filters: LegalHoldFilters = {},
  options: RequestOptions = {},
): ItemSequence<LegalHold> {
  const query = { limit: defaultLimit, ...filters };
  return serverList(client, { path: '/server/v1/legal-holds', query }, options);
}

/**
 * Places a legal hold: `POST /server/v1/legal-holds`. Once it is placed, nothing that it covers is deleted, by anyone, until
 * it is released. A hold without a scope covers everything. Needs a key with every scope.
 *
 * @throws ValidationError When the name or a time is not valid, or there are too many holds.
 * @throws NotFoundError When the service is not the actlog server, or an older one.
 *
 * @example
 * ```ts
 * import { createLegalHold, releaseLegalHold } from '@actlog/client/server';
 *
 * const { id } = await createLegalHold(client, { name: 'Case 4711', agentId: 'billing' });
 * await releaseLegalHold(client, id);
 * ```
 */
export function createLegalHold(
  client: Actlog,
  hold: LegalHoldDraft,
  options: RequestOptions = {},
): Promise<LegalHold> {
  return client.request('POST', '/server/v1/legal-holds', { ...options, body: hold });
}

/**
 * Releases a legal hold: `POST /server/v1/legal-holds/:id/release`. Releasing it again returns the same. Needs a key with
 * every scope.
 *
 * @throws PermissionDeniedError When an operator has placed it, who alone releases it.
 * @throws NotFoundError When there is no such hold, or the service is not the actlog server.
 */
export function releaseLegalHold(
  client: Actlog,
  id: string,
  options: RequestOptions = {},
): Promise<LegalHold> {
  const path = `/server/v1/legal-holds/${encodeURIComponent(id)}/release` as const;
  return client.request('POST', path, options);
}

/**
 * Returns how long each class of records is kept: `GET /server/v1/retention`. Needs a key with every scope.
 *
 * @throws NotFoundError When the service is not the actlog server, or an older one.
 */
export function getRetention(client: Actlog, options: RequestOptions = {}): Promise<RetentionInForce> {
  return client.request('GET', '/server/v1/retention', options);
}

/**
 * Returns how far the records of the tenant were forwarded to each destination: `GET /server/v1/forwarding`. Needs a key
 * with every scope.
 *
 * @throws NotFoundError When the service is not the actlog server, or an older one.
 */
export function getForwarding(client: Actlog, options: RequestOptions = {}): Promise<Forwarding> {
  return client.request('GET', '/server/v1/forwarding', options);
}
