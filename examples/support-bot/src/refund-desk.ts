import { setTimeout as pause } from 'node:timers/promises';
import { type Actlog, ConflictError, type PendingAction } from '@actlog/client';

/** Decision of the desk about a held refund. */
export interface Verdict {
  readonly decision: 'approve' | 'deny';
  readonly comment: string;
}

/**
 * Passes every held refund to `decide`, and sends the decision to the service, until the signal aborts.
 *
 * @param decide - the approver's decision: from a form, a chat message or, as in `main.ts`, a rule
 */
export async function runRefundDesk(
  client: Actlog,
  decide: (action: PendingAction) => Verdict | Promise<Verdict>,
  signal: AbortSignal,
): Promise<void> {
  while (!signal.aborted) {
    for await (const action of client.guardian.pendingActions.list({ status: 'pending' })) {
      const verdict = await decide(action);
      await client.guardian.pendingActions.decide(action.id, verdict).catch((error: unknown) => {
        // Another approver has decided, or it has expired.
        if (!(error instanceof ConflictError)) throw error;
      });
    }
    await pause(200, undefined, { signal }).catch(() => {});
  }
}
