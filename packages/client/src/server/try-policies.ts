import type { Actlog } from '@actlog/client';
import type { CheckResult, PolicyCheck, PolicyCreate } from '@actlog/protocol';
import type { RequestOptions } from '../request/request-options.ts';

/** Policies to try, and the action to try them on. */
export interface PolicyTrial {
  /** The draft, as for `client.policies.create`. */
  readonly policies: readonly PolicyCreate[];
  /**
   * `merge` tries them together with the active policies, and instead of those with the same names; `replace` tries
   * them alone. Default: `merge`.
   */
  readonly mode?: 'merge' | 'replace' | undefined;
  /** The action, as for `client.policies.check`. */
  readonly check: PolicyCheck;
}

/**
 * Checks an action as if policies were active that are not saved: `POST /server/v1/trials`. Nothing is held, counted or
 * kept. Of many matched policies, the first are listed, and `moreMatched` counts the others. Policies of the draft have the ids `draft_0`, `draft_1` and so on. Needs a key with the scope `manage`.
 *
 * @throws ValidationError When a policy of the draft could not be created.
 * @throws NotFoundError When the service is not the actlog server, or an older one.
 *
 * @example
 * ```ts
 * import { tryPolicies } from '@actlog/client/server';
 *
 * const policies = [{ name: 'refunds', effect: 'deny', match: { tools: ['refund'] } } as const];
 * const action = { toolName: 'refund', argumentsHash: 'sha256:aa' };
 * const { decision, decidedBy } = await tryPolicies(client, { policies, check: { agentId: 'billing', action } });
 * console.log(decision, decidedBy);
 * ```
 */
export function tryPolicies(
  client: Actlog,
  trial: PolicyTrial,
  options: RequestOptions = {},
): Promise<CheckResult> {
  return client.request('POST', '/server/v1/trials', { ...options, body: trial });
}
