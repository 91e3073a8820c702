import { setTimeout as pause } from 'node:timers/promises';
import type { Actlog } from '@actlog/client';

/**
 * Approves the next held action of a session, in place of an approver.
 *
 * @param meanwhile - called between reading the action and the decision
 * @throws Error when no action is held within 20 seconds
 */
export async function approveNext(client: Actlog, sessionId: string, meanwhile = () => {}): Promise<void> {
  for (let look = 0; look < 200; look += 1) {
    const [held] = await client.guardian.pendingActions.list({ sessionId }).toArray({ limit: 1 });
    if (held) {
      meanwhile();
      await client.guardian.pendingActions.decide(held.id, { decision: 'approve' });
      return;
    }
    await pause(100);
  }
  throw new Error(`No action of ${sessionId} was held.`);
}
