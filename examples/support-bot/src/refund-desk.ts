import { setTimeout as pause } from 'node:timers/promises';
import { type Actlog, ConflictError, type PendingAction } from '@actlog/client';

/** Decision of the desk about a held refund. */
export interface Verdict {
  readonly decision: 'approve' | 'deny';
  readonly comment: string;
}

/**
 * The refund desk: shows every refund that waits to `decide`, and passes the answer on, until the signal ends it.
 *
 * @param decide - a person: behind a form, a chat message or, as in `main.ts`, a rule
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
        // A colleague was faster, or its time was over: what holds is decided.
        if (!(error instanceof ConflictError)) throw error;
      });
    }
    await pause(200, undefined, { signal }).catch(() => {});
  }
}
