import { createHash } from 'node:crypto';
import { stringifyExactJson } from '@actlog/tool-call';
import type { ApprovedChange } from '../../events/tool-call.ts';
import { processWide } from '../../lib/process-wide.ts';
import { isUrlRequired, throwAsGivenUp } from './tool-outcome.ts';

/** Maximum number of calls remembered that wait for user input. */
const maxActionIds = 1000;

/** Caller of a tool, as far as known. */
interface Caller {
  readonly agentId?: string | undefined;
  readonly sessionId?: string | undefined;
}

const waitingIds = processWide('@actlog/mcp/action-ids', () => new Map<string, string[]>());

/**
 * Returns the action id of the call that requested user input and is now continued, so that a person approves a call
 * that takes several requests only once. Each id is returned once, and only for exactly the same caller, tool and
 * arguments, because an approval allows one call.
 *
 * Shared by the process, because the requests of one call may reach different servers in it.
 */
export function takeActionId(caller: Caller, params: CallParams): string | undefined {
  if (params.inputResponses === undefined && params.requestState === undefined) return undefined;
  const key = keyOf(caller, params);
  const ids = key === undefined ? undefined : waitingIds().get(key);
  const id = ids?.pop();
  if (key !== undefined && ids?.length === 0) waitingIds().delete(key);
  return id;
}

/** Stores the action id of a call that requests user input. */
export function keepActionId(caller: Caller, params: CallParams, actionId: string): void {
  const key = keyOf(caller, params);
  if (key === undefined) return;
  const ids = waitingIds().get(key) ?? [];
  waitingIds().delete(key); // re-added as the newest
  waitingIds().set(key, [...ids.slice(1 - maxActionIds), actionId]);
  const [oldest] = waitingIds().keys();
  if (waitingIds().size > maxActionIds && oldest !== undefined) waitingIds().delete(oldest);
}

function keyOf({ agentId, sessionId }: Caller, params: CallParams): string | undefined {
  const call = callText(params);
  if (call === undefined) return undefined;
  const parts = JSON.stringify([agentId, sessionId, call]);
  return createHash('sha256').update(parts).digest('base64');
}

/** Method of the request that calls a tool (Model Context Protocol, "Calling Tools"). */
export const callMethod = 'tools/call';

/** Parameters of a tool call. */
export interface CallParams {
  readonly name: string;
  readonly arguments?: unknown;
  /** Requests a task that continues after the response (revision 2025-11-25). */
  readonly task?: unknown;
  /** User input requested by the server, in a continued call (revision 2026-07-28). */
  readonly inputResponses?: unknown;
  /** State that the server requested back in a continued call (revision 2026-07-28). */
  readonly requestState?: unknown;
}

/** Returns `true` for parameters of a tool call; the SDK rejects others. */
export function isCallParams(params: unknown): params is CallParams {
  return (
    typeof params === 'object' && params !== null && typeof (params as { name?: unknown }).name === 'string'
  );
}

/** Returns the arguments of a call; missing arguments count as none. */
export function argumentsOf(params: CallParams): unknown {
  return params.arguments ?? {};
}

/** Returns a string that identifies a tool and its arguments; undefined if they are not JSON-serializable. */
export function callText(params: CallParams): string | undefined {
  try {
    return stringifyExactJson([params.name, argumentsOf(params)]);
  } catch {
    return undefined; // only possible with a transport inside the process
  }
}

/** Returns `true` if both call the same tool with the same arguments, as far as that can be determined. */
export function isSameCall(one: CallParams, other: CallParams): boolean {
  if (one === other) return true;
  const text = callText(one);
  return text !== undefined && text === callText(other);
}

/** Time after which a call counts as given up, in milliseconds. */
const maxWaitMs = 10 * 60_000;
/** Maximum number of calls that wait. */
const maxWaiting = 1000;

/** End of the wait for a repetition. */
export type WaitEnd = 'repeated' | 'given-up';

interface WaitingCall {
  /** Digest of the key, because a key contains the arguments. */
  readonly digest: string;
  readonly owner: object;
  end(how: WaitEnd): void;
}

const waiting = processWide('@actlog/mcp/unrepeated-calls', () => {
  // The last chance to record them: nothing else keeps the process alive.
  process.on('beforeExit', () => giveUpCalls());
  return new Set<WaitingCall>();
});

/** Identifies the calls of one caller to one tool with the same arguments; undefined if they cannot be compared. */
export function repetitionKey(caller: readonly unknown[], params: CallParams): string | undefined {
  const call = callText(params);
  if (call === undefined) return undefined;
  return `${JSON.stringify(caller)}\n${call}`;
}

function digestOf(key: string): string {
  return createHash('sha256').update(key).digest('base64');
}

/** Ends the wait of the oldest call with this key: the call that runs now repeats it. */
function repeatCall(key: string): void {
  if (waiting().size === 0) return;
  const digest = digestOf(key);
  for (const call of waiting()) {
    if (call.digest !== digest) continue;
    call.end('repeated');
    return;
  }
}

/**
 * Resolves when a call is repeated that ended with the request to open a URL first; or when it is given up: after ten
 * minutes, when its client or server is closed, at the natural end of the process, or when too many wait.
 *
 * @param owner - client or server of the call
 */
function untilRepeated(key: string, owner: object): Promise<WaitEnd> {
  return new Promise((resolve) => {
    const timer = setTimeout(() => call.end('given-up'), maxWaitMs);
    timer.unref();
    const call: WaitingCall = {
      digest: digestOf(key),
      owner,
      end(how) {
        clearTimeout(timer);
        waiting().delete(call);
        resolve(how);
      },
    };
    waiting().add(call);
    const [oldest] = waiting();
    if (waiting().size > maxWaiting) oldest?.end('given-up');
  });
}

/** Gives up the waiting calls of a client or server; of all without one. */
export function giveUpCalls(owner?: object): void {
  for (const call of waiting()) if (owner === undefined || call.owner === owner) call.end('given-up');
}

/** A call that its caller may have to repeat after the user has opened a URL. */
interface RepeatableCall<Result> {
  /** Client or server of the call. */
  readonly owner: object;
  readonly run: (args?: unknown, change?: ApprovedChange) => Promise<Result>;
  /** Returns the key by which a repetition is recognized; called while the call runs. */
  readonly key: () => string | undefined;
  /** Runs a function through the recorders. */
  readonly record: (run: (args?: unknown, change?: ApprovedChange) => Promise<Result>) => Promise<Result>;
}

/**
 * Runs and records a call. If the user must open a URL first, the caller gets that error at once, and the call is
 * recorded when it is certain that it is not repeated: a call and its repetition are one event.
 *
 * @throws the error of the call
 */
export function runRepeatable<Result>({ owner, run, key, record }: RepeatableCall<Result>): Promise<Result> {
  return new Promise((resolve, reject) => {
    const recorded = async (args?: unknown, change?: ApprovedChange) => {
      const ownKey = key();
      if (ownKey !== undefined) repeatCall(ownKey);
      try {
        return await run(args, change);
      } catch (error) {
        if (ownKey === undefined || !isUrlRequired(error)) throw error;
        reject(error);
        if ((await untilRepeated(ownKey, owner)) === 'given-up') throwAsGivenUp(error);
        throw error;
      }
    };
    record(recorded).then(resolve, reject);
  });
}
