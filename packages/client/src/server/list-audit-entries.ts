import type { Actlog, ItemSequence } from '@actlog/client';
import type { AuditAction, AuditEntry, AuditTargetKind } from '@actlog/protocol';
import type { RequestOptions } from '../request/request-options.ts';
import { defaultLimit, serverList } from './server-list.ts';
import { timeText } from './time-text.ts';

/** Filters of {@link listAuditEntries}. An entry must pass all of them. */
export interface AuditFilters {
  /** Id of the key that made the change, such as `key_0198c1d2e3f47a5b`. */
  readonly actor?: string | undefined;
  /** Kind of change, such as `policy.updated`. */
  readonly action?: AuditAction | undefined;
  /** Kind of thing that was changed, such as `policy`. */
  readonly targetKind?: AuditTargetKind | undefined;
  /** Id of the thing that was changed. */
  readonly target?: string | undefined;
  /** Earliest time of a change (inclusive): a date, or ISO 8601. */
  readonly since?: Date | string | undefined;
  /** Time before which a change was made (exclusive): a date, or ISO 8601. */
  readonly until?: Date | string | undefined;
  /** Entries in one response, 1 to 200. Default: 200. */
  readonly limit?: number | undefined;
}

/**
 * Lists the entries of the audit log, newest first: `GET /server/v1/audit`. Pages are requested as they are needed.
 * Needs a key with all scopes.
 *
 * @throws NotFoundError When the service is not the actlog server, or an older one.
 *
 * @example
 * ```ts
 * import { listAuditEntries } from '@actlog/client/server';
 *
 * for await (const { at, actor, action, target } of listAuditEntries(client, { targetKind: 'policy' })) {
 *   console.log(at, actor.name ?? actor.kind, action, target.name);
 * }
 * ```
 */
export function listAuditEntries(
  client: Actlog,
  filters: AuditFilters = {},
  options: RequestOptions = {},
): ItemSequence<AuditEntry> {
  const { since, until, limit = defaultLimit, ...rest } = filters;
  const query = { ...rest, limit, since: timeText(since), until: timeText(until) };
  return serverList(client, { path: '/server/v1/audit', query }, options);
}
