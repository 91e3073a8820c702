import { hash } from 'node:crypto';
import { type CallParams, callText } from '@actlog/recorder/adapter';

/** Maximum number of actions to remember. */
const maxActions = 1000;

/** Session and agent of a call. */
export interface Caller {
  readonly sessionId: string;
  readonly agentId: string | undefined;
}

/**
 * Actions that waited for a person when their call ended. The same call, repeated by the model, is checked as the same
 * action, so that the approval of the first lets the second run. Each is used once.
 */
export class PendingApprovals {
  readonly #actionIds = new Map<string, string>();

  /** Remembers the action of a call. */
  keep(caller: Caller, params: CallParams, actionId: string): void {
    const key = keyOf(caller, params);
    this.#actionIds.delete(key); // re-added as the newest
    this.#actionIds.set(key, actionId);
    const [oldest] = this.#actionIds.keys();
    if (this.#actionIds.size > maxActions && oldest !== undefined) this.#actionIds.delete(oldest);
  }

  /** Returns the action of an earlier, equal call, and forgets it. */
  take(caller: Caller, params: CallParams): string | undefined {
    const key = keyOf(caller, params);
    const actionId = this.#actionIds.get(key);
    this.#actionIds.delete(key);
    return actionId;
  }
}

/** Returns a key that does not keep the arguments in memory. */
function keyOf({ sessionId, agentId }: Caller, params: CallParams): string {
  return hash('sha256', JSON.stringify([agentId, sessionId, callText(params)]));
}
