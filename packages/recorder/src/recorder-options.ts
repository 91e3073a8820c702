import type { Actlog, ClientOptions } from '@actlog/client';
import type { ArgumentsHashOptions, ResponseStatusMapping } from '@actlog/tool-call';

import type { GuardOptions } from './guard/guard-options.ts';
import type { OriginsOptions } from './origins/origins-options.ts';
import type { WhenFull } from './outbox/outbox.ts';
import type { DroppedEvent } from './reporting/drop-reason.ts';

/**
 * Options of a {@link Recorder}: a client or the client's own options, and those below. All have defaults; the key and
 * the address may come from `ACTLOG_API_KEY` and `ACTLOG_BASE_URL`. The client's `hooks`, retries and time limits apply
 * to policy checks, not to the delivery of events.
 */
export interface RecorderOptions extends ClientOptions, ArgumentsHashOptions {
  /** Client to send with; the client's own options in this object are then ignored. */
  readonly client?: Actlog | undefined;
  /**
   * Agent of the recorded calls. Default: `ACTLOG_AGENT_ID`, else the name in package.json of the working directory,
   * else `agent`.
   */
  readonly agentId?: string | undefined;

  /**
   * Folder for journals, shared by any number of processes, users and tenants. The journals of each user and tenant are
   * in a separate subfolder that only that user can read. Default: `ACTLOG_SPOOL_DIR`, else the user's state folder.
   */
  readonly spoolDir?: string | undefined;
  /**
   * Name of the tenant, for the folder of its journals. Without a name, tenants are distinguished by their API key, so
   * a process with a new key does not deliver the events left under the old key. Default: `ACTLOG_TENANT`.
   */
  readonly tenant?: string | undefined;
  /** `false` keeps events only in memory, so that undelivered events are lost when the process ends. Default true. */
  readonly spool?: boolean | undefined;
  /** `true` flushes each event to disk, safe from a power failure, before `record` returns. Slow. Default false. */
  readonly fsync?: boolean | undefined;

  /** Maximum size of the journal of one process, in bytes. Default 256 MiB. */
  readonly maxSpoolBytes?: number | undefined;
  /** Maximum number of events in memory; with a journal, more wait on disk. Default 10,000. */
  readonly maxQueuedEvents?: number | undefined;
  /**
   * Policy for when there is no room: `drop-oldest` (the default) and `drop-newest` lose ordinary events before errors
   * and denials; `block` makes `toolCall` wait before it runs the tool.
   */
  readonly whenFull?: WhenFull | undefined;
  /** Maximum time that `block` makes a call wait, in milliseconds. Default 30,000. */
  readonly blockTimeoutMs?: number | undefined;

  /** Maximum number of events in flight. Default 16. */
  readonly concurrency?: number | undefined;
  /**
   * Maximum number of events in flight per connection (RFC 9112, section 9.3.2). More than 1 needs fewer connections
   * and less CPU, but requires that the path to the service, including proxies, supports pipelining. Default:
   * automatic; 1 at first, 4 while the service responds within a few milliseconds, and 1 again when a request gets no
   * response.
   */
  readonly pipelining?: number | undefined;
  /** Time limit for the response to an event, in milliseconds. Default 10,000. */
  readonly requestTimeoutMs?: number | undefined;
  /**
   * Maximum time that delivery continues after the event loop is empty, in milliseconds. Ends earlier if the service is
   * unreachable and everything is safe on disk; 0 ends the process at once. Default 2,000.
   */
  readonly exitTimeoutMs?: number | undefined;
  /**
   * Keeps a serverless function running until a promise settles, as provided by the platform. Default: Vercel's, if
   * available.
   */
  readonly waitUntil?: ((promise: Promise<unknown>) => void) | undefined;

  /**
   * Finds out where the arguments of calls came from: the user, the system prompt, the result of an earlier call, or the
   * model. Policies and risk scores can use it. Only the fact is sent, never a value or a hash of one. Default:
   * `ACTLOG_ORIGINS`, else `false`.
   */
  readonly origins?: boolean | OriginsOptions | undefined;
  /** Guard that checks calls before they run. */
  readonly guard?: GuardOptions | undefined;
  /** Returns the status of calls. For `undefined`, the table of the README applies. */
  readonly responseStatus?: ResponseStatusMapping | undefined;
  /**
   * Called for every lost event, with the reason. Its errors and rejections are ignored. An event that it records
   * itself while there is no room, or after the end, is also lost; that one is counted but not reported.
   */
  readonly onDrop?: ((dropped: DroppedEvent) => void) | undefined;
  /**
   * Called for errors that the user can fix. Its errors and rejections are ignored. Default: one console warning per
   * kind.
   */
  readonly onError?: ((error: Error) => void) | undefined;
}
