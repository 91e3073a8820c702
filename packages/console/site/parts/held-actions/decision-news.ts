import { APIError, type PendingAction } from '@actlog/client';

/** The action of a message. */
type Named = Pick<PendingAction, 'action' | 'agentId'>;

function nameOf({ action, agentId }: Named): string {
  return `${action?.toolName ?? 'An action'} by ${agentId}`;
}

/** Returns the message about an action that the user has just decided. */
export function decidedNews(action: PendingAction): string {
  const { status, approvals } = action;
  if (status !== 'pending' || approvals === undefined) return `${nameOf(action)}: ${status}.`;
  const missing = approvals.required - approvals.given.length;
  const others = missing === 1 ? 'another approver' : `${missing} more approvers`;
  return `${nameOf(action)}: your approval counts, and it waits for ${others}.`;
}

/** Returns the value of a field of the action in the details of an error. */
function valueIn(details: readonly unknown[], field: string): string | undefined {
  return details
    .map((detail) => (detail as { readonly path?: unknown; readonly code?: unknown } | null) ?? {})
    .find(({ path }) => path === field)
    ?.code?.toString();
}

/**
 * Returns the message for the loser of a race: the action ended before the user's decision, which changed nothing.
 *
 * @param error - error of the service, or of one decision of several
 */
export function lateNews(
  action: Named,
  { code, details = [] }: { readonly code: string; readonly details?: readonly unknown[] | undefined },
): string | undefined {
  if (code === 'ACTION_EXPIRED') return `${nameOf(action)} expired before your decision.`;
  if (code !== 'ALREADY_DECIDED') return undefined;
  const status = valueIn(details, 'status') ?? 'decided';
  const who =
    valueIn(details, 'decision.principal') ?? valueIn(details, 'decision.decidedBy') ?? 'someone else';
  return `${nameOf(action)} was already ${status} by ${who}; your decision changed nothing.`;
}

/** Returns {@link lateNews} for an error of the client; undefined for any other error. */
export function lateNewsOf(action: Named, error: unknown): string | undefined {
  return error instanceof APIError
    ? lateNews(action, { code: error.code, details: error.details })
    : undefined;
}
