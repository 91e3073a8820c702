import { setTimeout as pause } from 'node:timers/promises';
import type { Actlog } from '@actlog/client';

/**
 * Approves the next action of a session that waits: stands for a person.
 *
 * @param meanwhile - what happens between the person's look and the decision
 * @throws Error when nothing waits for 20 seconds
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
  throw new Error(`Nothing of ${sessionId} waited for a person.`);
}
