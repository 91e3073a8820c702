import type { ListOptions } from '../request/request-options.ts';

/** Options of `client.guardian.pendingActions.watch`. Those of a call apply to each request for the list. */
export interface WatchOptions extends ListOptions {
  /** Ends the loop, without an error. */
  readonly signal?: AbortSignal | undefined;
  /** Only actions of this agent. */
  readonly agentId?: string | undefined;
  /** Only actions of this session. */
  readonly sessionId?: string | undefined;
  /** Delay between two requests for the list while actions appear, in milliseconds. Default 2,000. */
  readonly intervalMs?: number | undefined;
  /** Longest delay between two requests while none appear, in milliseconds. Default 15,000. */
  readonly maxIntervalMs?: number | undefined;
  /** Name of the field with the id of an action, if the service has one that `idOf` does not recognize. */
  readonly idKey?: string | undefined;
}
