import type { Actlog, ItemSequence } from '@actlog/client';
import type {
  ActionDecision,
  ActionDecisionResult,
  ActionDecisionResults,
  ApprovalGrant,
} from '@actlog/protocol';
import type { RequestOptions } from '../request/request-options.ts';
import { defaultLimit, serverList } from './server-list.ts';

/** Filters of {@link listGrants}. A grant must pass all of them. */
export interface GrantFilters {
  readonly agentId?: string | undefined;
  readonly sessionId?: string | undefined;
  /** `true` for grants that are neither expired nor revoked, `false` for the others. Default: both. */
  readonly valid?: boolean | undefined;
  /** Grants in one response, 1 to 200. Default: 200. */
  readonly limit?: number | undefined;
}

/**
 * Lists the grants of approvers for later actions, newest first: `GET /server/v1/grants`. Pages are requested as they
 * are needed. Needs a key with the scope `read`.
 *
 * @throws NotFoundError When the service is not the actlog server, or an older one.
 *
 * @example
 * ```ts
 * import { listGrants } from '@actlog/client/server';
 *
 * for await (const { id, toolName, sessionId, expiresAt } of listGrants(client, { valid: true })) {
 *   console.log(id, toolName, sessionId, expiresAt);
 * }
 * ```
 */
export function listGrants(
  client: Actlog,
  filters: GrantFilters = {},
  options: RequestOptions = {},
): ItemSequence<ApprovalGrant> {
  const query = { limit: defaultLimit, ...filters };
  return serverList(client, { path: '/server/v1/grants', query }, options);
}

/**
 * Revokes a grant: `DELETE /server/v1/grants/:id`. Later actions need an approval again; actions that ran stay as they
 * are. Revoking it again returns the same. Needs a key with the scope `decide`.
 *
 * @throws NotFoundError When there is no such grant, or the service is not the actlog server.
 *
 * @example
 * ```ts
 * import { revokeGrant } from '@actlog/client/server';
 *
 * await revokeGrant(client, 'grt_0198c1d2e3f47a5b8c6d7e8f90a1b2c3');
 * ```
 */
export async function revokeGrant(
  client: Actlog,
  id: string,
  options: RequestOptions = {},
): Promise<ApprovalGrant> {
  return client.request('DELETE', `/server/v1/grants/${encodeURIComponent(id)}`, options);
}

/**
 * Decides up to 100 held actions in one request: `POST /server/v1/pending-actions/decide`. Returns one result for each
 * decision, in the same order: a decision that is refused does not affect the others. Needs a key with the scope
 * `decide`.
 *
 * @throws ValidationError When there are no decisions, more than 100, or two about one action.
 * @throws NotFoundError When the service is not the actlog server, or an older one.
 *
 * @example
 * ```ts
 * import { decideActions } from '@actlog/client/server';
 *
 * const held = await client.guardian.pendingActions.list({ agentId: 'billing', limit: 100 });
 * const decisions = held.items.map(({ id }) => ({ id, decision: 'approve' as const }));
 * for (const { id, action, error } of await decideActions(client, decisions)) {
 *   console.log(id, action?.status ?? error?.message);
 * }
 * ```
 */
export async function decideActions(
  client: Actlog,
  decisions: readonly ActionDecision[],
  options: RequestOptions = {},
): Promise<readonly ActionDecisionResult[]> {
  const path = '/server/v1/pending-actions/decide';
  const { results } = await client.request<ActionDecisionResults>('POST', path, {
    ...options,
    body: { decisions },
  });
  return results;
}
