import { readFileSync } from 'node:fs';
import type { Actlog, ClientOptions } from '@actlog/client';
import { clientOptionNames } from '@actlog/client/transport';
import { type ArgumentsHashOptions, type ResponseStatusMapping, toResourceId } from '@actlog/tool-call';
import {
  type GuardOptions,
  type GuardSettings,
  refuseGuardOptions,
  resolveGuard,
} from './guard/guard-options.ts';
import { decodeText } from './lib/json-value.ts';
import {
  atLeast,
  booleanVariable,
  checkType,
  environmentVariable,
  finiteAtLeast,
  oneOf,
  timerMs,
} from './lib/option-checks.ts';
import { type OriginsOptions, type OriginsSettings, resolveOrigins } from './origins/origins-options.ts';
import type { WhenFull } from './outbox/outbox.ts';
import type { DroppedEvent } from './reporting/reporter.ts';

/**
 * Options of a {@link Recorder}: a client or the client's options, and the options below. All have defaults; the key
 * and the address may come from `ACTLOG_API_KEY` and `ACTLOG_BASE_URL`. The client's `hooks`, retries and time limits
 * apply to policy checks, not to the delivery of events.
 */
export interface RecorderOptions extends ClientOptions, ArgumentsHashOptions {
  /** Client to send with; the client's options in this object are then ignored. */
  readonly client?: Actlog | undefined;
  /**
   * Agent of the recorded calls. Default: `ACTLOG_AGENT_ID`, then the name in package.json of the working directory,
   * otherwise `agent`.
   */
  readonly agentId?: string | undefined;

  /**
   * Folder for journals, shared by any number of processes, users and tenants. The journals of each user and tenant are
   * in a separate subfolder that only that user can read. Default: `ACTLOG_SPOOL_DIR`, otherwise the user's state
   * folder.
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
   * `ACTLOG_ORIGINS`, otherwise `false`.
   */
  readonly origins?: boolean | OriginsOptions | undefined;
  /**
   * Seals sessions: events of category `session_seal` list the ids of the session's other events, so that `actlog log
   * verify` names an event that left the agent and is not in the record. A seal is sent after 100 events, and when the
   * recorder is flushed or closed, or the process ends. Default: `ACTLOG_SEALS`, else `false`.
   */
  readonly seals?: boolean | undefined;
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

/** Options of the recorder, checked and completed. */
export interface RecorderSettings {
  readonly agentId: string;
  /** Undefined to distinguish tenants by their key. */
  readonly tenant: string | undefined;
  readonly maxSpoolBytes: number;
  readonly maxQueuedEvents: number;
  readonly whenFull: WhenFull;
  readonly blockTimeoutMs: number;
  readonly concurrency: number;
  readonly requestTimeoutMs: number;
  readonly exitTimeoutMs: number;
  readonly guard: GuardSettings;
  readonly seals: boolean;
  /** Undefined if origins are off. */
  readonly origins: OriginsSettings | undefined;
}

/** Names of the options, of which a part are the client's. */
const optionNames = [
  ...clientOptionNames,
  ...Object.keys({
    agentId: true,
    blockTimeoutMs: true,
    client: true,
    concurrency: true,
    exitTimeoutMs: true,
    fsync: true,
    guard: true,
    hashKey: true,
    maxQueuedEvents: true,
    maxSpoolBytes: true,
    onDrop: true,
    onError: true,
    origins: true,
    requestTimeoutMs: true,
    responseStatus: true,
    seals: true,
    spool: true,
    spoolDir: true,
    tenant: true,
    waitUntil: true,
    whenFull: true,
  } satisfies Record<Exclude<keyof RecorderOptions, keyof ClientOptions>, true>),
];

/** Returns the options for the recorder's client. */
export function clientOptionsOf(options: RecorderOptions): ClientOptions {
  return Object.fromEntries(Object.entries(options).filter(([name]) => clientOptionNames.includes(name)));
}

const whenFullValues = ['drop-oldest', 'drop-newest', 'block'] as const;

/**
 * Checks the options and applies the defaults.
 *
 * @throws RangeError when a number is invalid
 * @throws TypeError when an option has the wrong type or an unknown value, or `enforce` lacks `onUnavailable`
 */
export function resolveRecorderSettings(options: RecorderOptions): RecorderSettings {
  checkTypes(options);
  const agentId = options.agentId || environmentVariable('ACTLOG_AGENT_ID') || packageName();
  return {
    agentId: toResourceId(agentId ?? '', 'agent'),
    tenant: options.tenant || environmentVariable('ACTLOG_TENANT'),
    maxSpoolBytes: atLeast(64 * 1024, 'maxSpoolBytes', options.maxSpoolBytes, 256 * 1024 * 1024),
    maxQueuedEvents: atLeast(1, 'maxQueuedEvents', options.maxQueuedEvents, 10_000),
    whenFull: oneOf(whenFullValues, 'whenFull', options.whenFull) ?? 'drop-oldest',
    blockTimeoutMs: atLeast(0, 'blockTimeoutMs', options.blockTimeoutMs, 30_000),
    concurrency: finiteAtLeast(1, 'concurrency', options.concurrency, 16),
    requestTimeoutMs: timerMs(1, 'requestTimeoutMs', options.requestTimeoutMs, 10_000),
    exitTimeoutMs: atLeast(0, 'exitTimeoutMs', options.exitTimeoutMs, 2_000),
    guard: resolveGuard(options.guard === undefined ? {} : options.guard),
    origins: resolveOrigins(options.origins),
    seals: options.seals ?? booleanVariable('ACTLOG_SEALS') ?? false,
  };
}

/** Checks types at run time, because in JavaScript a mistake would show only when the first event is lost, or never. */
function checkTypes(options: RecorderOptions): void {
  checkType('object', 'options', options, 'pass an object such as { agentId: "support" }');
  refuseGuardOptions(options);
  const unknown = Object.keys(options).find(
    (name) => options[name as keyof RecorderOptions] !== undefined && !optionNames.includes(name),
  );
  if (unknown !== undefined) {
    throw new TypeError(
      `${JSON.stringify(unknown)} is not an option of the recorder: pass some of ${optionNames.join(', ')}.`,
    );
  }
  const { client, spoolDir } = options;
  if (client && typeof client.withOptions !== 'function') {
    throw new TypeError('client must be an Actlog of @actlog/client: pass one, or apiKey and baseURL.');
  }
  const folder = 'pass the path of a folder, or spool: false to keep events in memory only';
  checkType('string', 'spoolDir', spoolDir, folder);
  if (spoolDir === '') throw new TypeError(`spoolDir is empty: ${folder}.`);
  for (const name of ['agentId', 'tenant', 'framework', 'agentVersion', 'sdk'] as const) {
    checkType('string', name, options[name]);
  }
  for (const name of ['spool', 'fsync', 'seals'] as const) checkType('boolean', name, options[name]);
  for (const name of ['waitUntil', 'responseStatus', 'onDrop', 'onError'] as const) {
    checkType('function', name, options[name]);
  }
}

/** Returns the name in package.json of the working directory, where an agent is usually started. */
function packageName(): string | undefined {
  try {
    const { name } = JSON.parse(decodeText(readFileSync('package.json'))) as { name?: unknown };
    return typeof name === 'string' ? name : undefined;
  } catch {
    return undefined;
  }
}
