import type { Actlog } from '@actlog/client';
import type { ActionDecision, ActionDecisionResult, ActionDecisionResults } from '@actlog/protocol';
import type { RequestOptions } from '../request/request-options.ts';

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
