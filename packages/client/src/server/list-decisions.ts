import type { Actlog, ItemSequence } from '@actlog/client';
import type {
  AuditAction,
  AuditEntry,
  AuditTargetKind,
  PolicyDecision,
  PolicyEffect,
} from '@actlog/protocol';
import type { RequestOptions } from '../request/request-options.ts';
import { defaultLimit, serverList, timeText } from './server-list.ts';

/** Filters of {@link listDecisions}. A decision must pass all of them. */
export interface DecisionFilters {
  readonly agentId?: string | undefined;
  readonly sessionId?: string | undefined;
  readonly toolName?: string | undefined;
  /** Held actions that wait are `require_approval`; those that have ended have their outcome. */
  readonly decision?: PolicyEffect | undefined;
  /** `true` for dry runs only, `false` for checks with effects only. Default: both. */
  readonly dryRun?: boolean | undefined;
  /** `true` for actions that are or were held only, `false` for the others only. Default: both. */
  readonly held?: boolean | undefined;
  /** Earliest time of a check (inclusive): a date, or ISO 8601. */
  readonly since?: Date | string | undefined;
  /** Time before which the action was checked (exclusive): a date, or ISO 8601. */
  readonly until?: Date | string | undefined;
  /** Decisions in one response, 1 to 200. Default: 200. */
  readonly limit?: number | undefined;
}

/**
 * Lists the decisions of the policies, newest first: `GET /server/v1/decisions`. Pages are requested as they are
 * needed. Needs a key with the scope `read`.
 *
 * @throws NotFoundError When the service is not the actlog server, or an older one.
 *
 * @example
 * ```ts
 * import { listDecisions } from '@actlog/client/server';
 *
 * const since = new Date(Date.now() - 86_400_000);
 * for await (const { agentId, toolName, decision } of listDecisions(client, { since, decision: 'deny' })) {
 *   console.log(agentId, toolName, decision);
 * }
 * ```
 */
export function listDecisions(
  client: Actlog,
  filters: DecisionFilters = {},
  options: RequestOptions = {},
): ItemSequence<PolicyDecision> {
  const { since, until, limit = defaultLimit, ...rest } = filters;
  const query = { ...rest, limit, since: timeText(since), until: timeText(until) };
  return serverList(client, { path: '/server/v1/decisions', query }, options);
}

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
