import { setTimeout as pause } from 'node:timers/promises';
import type { Actlog, PendingAction } from '@actlog/client';

/** A change of the held actions. */
export type Change =
  | { readonly kind: 'held'; readonly action: PendingAction }
  | { readonly kind: 'ended'; readonly action: PendingAction };

/**
 * Yields actions when they are held and when they end, until the signal aborts. Polls the service every `everyMs`
 * milliseconds; the client's retries bridge short outages.
 *
 * @throws ActlogError when an outage lasts longer
 */
export async function* watch(client: Actlog, signal: AbortSignal, everyMs: number): AsyncGenerator<Change> {
  const { pendingActions } = client.guardian;
  const known = new Set<string>();
  while (!signal.aborted) {
    const held = await pendingActions.list({ limit: 200 }, { signal }).toArray();
    for (const action of held.toReversed()) {
      if (known.has(action.id)) continue;
      known.add(action.id);
      yield { kind: 'held', action };
    }
    const waiting = new Set(held.map(({ id }) => id));
    const gone = new Set([...known].filter((id) => !waiting.has(id)));
    for (const id of gone) known.delete(id);
    for (const status of gone.size > 0 ? (['approved', 'denied', 'expired'] as const) : []) {
      for await (const action of pendingActions.list({ status, limit: 200 }, { signal })) {
        if (gone.delete(action.id)) yield { kind: 'ended', action };
        if (gone.size === 0) break;
      }
    }
    await pause(everyMs, undefined, { signal }).catch(() => {});
  }
}
