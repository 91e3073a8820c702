import type { Actlog, ActlogOptions } from '@actlog/client';
import type { ArgumentsHashOptions } from './arguments/arguments-hash.ts';
import type { DroppedEvent } from './drop-reason.ts';
import type { GuardOptions } from './guard/guard-options.ts';
import type { WhenFull } from './outbox/outbox.ts';
import type { ResponseStatusMapping } from './response-status.ts';

/**
 * Settings of a {@link Recorder}: a client or the client's own options, and what follows. Everything has a default;
 * the key and the address can come from `ACTLOG_API_KEY` and `ACTLOG_BASE_URL`. The client's `hooks`, retries and time
 * limits are for policy checks; events are delivered without them.
 */
export interface RecorderOptions extends ActlogOptions, ArgumentsHashOptions {
  /** The client to send with; the client's own options are not looked at then. */
  readonly client?: Actlog | undefined;
  /** The agent whose calls these are. Default: `ACTLOG_AGENT_ID`, else the name in the working folder's package.json, else `agent`. */
  readonly agentId?: string | undefined;

  /** Folder of the journal, shared by any number of processes of one user that record for the same tenant. Default: `ACTLOG_SPOOL_DIR`, else a folder of this user and this API key. */
  readonly spoolDir?: string | undefined;
  /** `false` keeps events in memory only: what is not delivered is lost with the process. Default true. */
  readonly spool?: boolean | undefined;
  /** Whether each event is on the disk itself, safe from a power cut, before `record` returns. Slow. Default false. */
  readonly fsync?: boolean | undefined;

  /** Most bytes of the journal of one process. Default 256 MiB. */
  readonly maxSpoolBytes?: number | undefined;
  /** Most events in memory; more wait on disk, where there is one. Default 10,000. */
  readonly maxQueuedEvents?: number | undefined;
  /**
   * What happens when there is no room: `drop-oldest` (the default) or `drop-newest` lose ordinary events before
   * errors and denials; `block` makes `toolCall` wait before it runs the tool.
   */
  readonly whenFull?: WhenFull | undefined;
  /** Most milliseconds that `block` makes a call wait. Default 30,000. */
  readonly blockTimeoutMs?: number | undefined;

  /** Most events in flight at once. Default 16. */
  readonly concurrency?: number | undefined;
  /**
   * Most events under way on one connection (RFC 9112, section 9.3.2). More than 1 needs fewer connections and less
   * CPU, and a path to the service, proxies included, that takes pipelined requests. Default: found out; 1 at first,
   * 4 while the service answers within a few milliseconds, and 1 again when a request gets no answer.
   */
  readonly pipelining?: number | undefined;
  /** Most milliseconds until an event is answered. Default 10,000. */
  readonly requestTimeoutMs?: number | undefined;
  /**
   * Most milliseconds that delivery goes on when the event loop has run empty. It ends sooner when the service cannot
   * be reached and all is safe on disk; 0 ends the process at once. Default 2,000.
   */
  readonly exitTimeoutMs?: number | undefined;
  /** Keeps a serverless function running until a promise settles, as platforms offer it. Default: Vercel's, where it is. */
  readonly waitUntil?: ((promise: Promise<unknown>) => void) | undefined;

  /** Asks before a call runs. */
  readonly guard?: GuardOptions | undefined;
  /** Gives the status of calls; the table of the README answers where it returns `undefined`. */
  readonly responseStatus?: ResponseStatusMapping | undefined;
  /**
   * Called for every event that is lost, with the reason. What it throws or rejects with is ignored. An event that it
   * records itself while there is no room, or after the end, is lost too: that one is counted, and not told of again.
   */
  readonly onDrop?: ((dropped: DroppedEvent) => void) | undefined;
  /**
   * Called for what goes wrong and somebody could mend. What it throws or rejects with is ignored. Default: one warning
   * a kind.
   */
  readonly onError?: ((error: Error) => void) | undefined;
}
