import {
  defaultResponseStatus,
  isResponseStatus,
  parseTraceparent,
  reachedToolStatus,
  type ToolOutcome,
} from '@actlog/tool-call';
import type { RunCall } from '../events/tool-call.ts';
import { processWidePerOwner } from '../lib/process-wide.ts';
import { ignoreRejection } from '../lib/timers.ts';
import type { TextAuthor } from '../origins/session-origins.ts';
import type { AdapterRecorder, Recorder } from '../recorder.ts';
import { prepareCalls, type RunningCall, shownResult } from '../recording/active-call.ts';
import { prepareSessions } from '../recording/recorder-session.ts';
import type { SharedCalls } from '../recording/shared-calls.ts';
import { sharedRecorder } from '../shared-recorder.ts';
import {
  type AdapterOptions,
  type AdapterTraits,
  checkAdapterOptions,
  type ToolFilter,
} from './adapter-option-checks.ts';
import { Conversations } from './conversation/conversations.ts';
import {
  BegunCall,
  type HookedCall,
  isUnhookedCall,
  takeHookedCall,
  takeHookedTime,
  takeUnhookedCall,
  trackHookedCall,
  trackHookedTime,
  trackUnhookedCall,
  watchHookedTimes,
  withCallId,
} from './hooked-calls.ts';

/** Objects that have already reported their call, per recorder. */
const claimed = processWidePerOwner('@actlog/recorder/claimed', () => new WeakSet<object>());

/** Common part of all adapters: applies the user's options to a framework's calls and passes them to the recorder. */
export class AdapterCalls {
  /**
   * Recorder from the options, or the shared one of this process. State about calls is kept per recorder, so that a
   * call seen by several hooks is recorded once per recorder.
   */
  readonly recorder: Recorder;
  /** Sessions of conversations, for frameworks that have no ids for them. */
  readonly conversations: Conversations;
  readonly #options: AdapterOptions;
  readonly #traits: AdapterTraits;
  /** The same recorder, with the adapter's names and guard. */
  readonly #recorder: AdapterRecorder;

  /**
   * Creates the calls of an adapter.
   *
   * @throws when no recorder is given and the environment does not configure one; see `sharedRecorder`
   * @throws RangeError or TypeError when an option is invalid
   */
  constructor(traits: AdapterTraits, options: AdapterOptions = {}) {
    checkAdapterOptions(options, traits);
    prepareCalls();
    prepareSessions();
    const { framework, sdk, canHold = true } = traits;
    const guard = canHold ? options.guard : { ...options.guard, holdTimeoutMs: 0 };
    this.#options = options;
    this.#traits = traits;
    this.recorder = options.recorder ?? sharedRecorder();
    this.conversations = new Conversations(this.recorder, options);
    this.#recorder = this.recorder.forAdapter({ framework, sdk, guard, origins: options.origins });
  }

  /** `true` if the guard may stop a call from running. */
  get isGuarding(): boolean {
    return this.#recorder.isGuarding;
  }

  /**
   * Returns `true` if the tool is recorded and guarded: the options select it, and it is not an internal tool of the
   * framework.
   */
  covers(toolName: string): boolean {
    const { include, exclude } = this.#options;
    if (this.#traits.internalTools?.includes(toolName) && !lists(include, toolName)) return false;
    const isNamed = (option: string, filter: ToolFilter) =>
      this.#usable(option, () => names(filter, toolName), isBoolean);
    const isIncluded = include === undefined || (isNamed('include', include) ?? true);
    return isIncluded && !(exclude && isNamed('exclude', exclude));
  }

  /**
   * Records a call and, if the guard is on, guards it. Inner calls without a session use its session.
   *
   * @throws ActionDeniedError when the guard denies the call; the adapter reports it to the model the framework's way
   */
  run<Result>(call: HookedCall, run: RunCall<Result>): Promise<Result> {
    const { callId, wrapping } = call;
    trackHookedCall(this.recorder, call);
    const ended = trackHookedTime(this.recorder, call.toolName);
    const running =
      callId === undefined && wrapping
        ? withCallId(wrapping, (ownId) => this.#run(call, ownId, run))
        : this.#run(call, callId, run);
    if (ended) running.then(ended, ended);
    return running;
  }

  /**
   * Begins a call, like {@link AdapterCalls.run}, for hooks that cannot put the whole call in one function.
   *
   * @throws ActionDeniedError when the guard denies the call
   */
  begin(call: HookedCall): Promise<BegunCall> {
    return BegunCall.begin((body) => this.run(call, body));
  }

  /**
   * Returns `true` for the first call with this object, for hooks that report the same finished call with the
   * same object.
   */
  claim(told: object): boolean {
    const all = claimed(this.recorder);
    if (all.has(told)) return false;
    all.add(told);
    return true;
  }

  /**
   * Announces that this adapter will record the call, before it has ended, because generic hooks may report it sooner.
   * They then skip it; if one was earlier, use {@link AdapterCalls.recordLate}.
   */
  note(call: { readonly toolName: string; readonly callId: string }): void {
    if (!isUnhookedCall(this.recorder, call)) trackHookedCall(this.recorder, call);
  }

  /** Records a call that has ended, unless `outcomeOf` or `statusOf` says that it has not finished. */
  record(call: HookedCall, outcome: ToolOutcome): void {
    trackHookedCall(this.recorder, call);
    trackHookedTime(this.recorder, call.toolName)?.();
    this.#recordEnded(call, outcome);
  }

  /**
   * Records a call for hooks that report it late or have announced it: skips a call that a generic hook has already
   * recorded.
   */
  recordLate(call: HookedCall, outcome: ToolOutcome): void {
    if (!takeUnhookedCall(this.recorder, call)) this.#recordEnded(call, outcome);
  }

  /**
   * Records a call for generic hooks, which see the calls of every framework: skips a call that its framework's adapter
   * handles. Such a call is recognized by its id. Without an id, it is recognized by `startedIn`, if that is a call of
   * the same tool, or by its time after {@link AdapterCalls.watchHooked}, because some frameworks report failures in
   * the background.
   */
  recordUnhooked(call: HookedCall, outcome: ToolOutcome): void {
    const { callId, startedIn } = call;
    const isWithin = startedIn?.toolName === this.#facts(call).toolName;
    // Take the time even if other facts identify the call, so that it does not match another call.
    const isHookedThen = (!startedIn || isWithin) && this.#takeTime(call);
    const isHooked = callId === undefined ? isWithin || isHookedThen : takeHookedCall(this.recorder, call);
    if (isHooked) return;
    trackUnhookedCall(this.recorder, call);
    this.#recordEnded(call, outcome);
  }

  /** Remembers from now on when other adapters of this recorder handle calls, for `recordUnhooked`. */
  watchHooked(): void {
    watchHookedTimes(this.recorder);
  }

  /** `true` if argument origins are traced, so that {@link AdapterCalls.noteText} needs the conversation. */
  get tracesOrigins(): boolean {
    return this.#recorder.tracesOrigins;
  }

  /**
   * Remembers what the user or the system prompt says, to trace argument origins, in the session in which calls with
   * this framework's session would be recorded. Repeated text is ignored, so callers may pass all messages of a
   * request.
   */
  noteText(author: TextAuthor, text: string, sessionId?: string): void {
    if (!this.tracesOrigins) return;
    this.#recorder.noteText(author, text, this.#sessionIdOf(sessionId));
  }

  /** Returns the innermost running call of the recorder, for `startedIn`. */
  currentCall(): RunningCall | undefined {
    return this.#recorder.currentCall();
  }

  /** Calls that the recorder shares with the other side of a connection; undefined if it reports to no service. */
  get sharedCalls(): SharedCalls | undefined {
    return this.#recorder.sharedCalls;
  }

  #run<Result>(call: HookedCall, callId: string | undefined, run: RunCall<Result>): Promise<Result> {
    const { signal, actionId, announced, onRecorded, acceptsChanges, schema } = call;
    const responseStatusOf = (outcome: ToolOutcome) => this.#statusOf(outcome, call);
    const facts = this.#facts(call);
    const sessionId = announced?.sessionId ?? facts.sessionId;
    const session = sessionId === undefined ? undefined : this.#recorder.session(sessionId);
    return this.#recorder.toolCall(
      {
        ...facts,
        callId,
        signal,
        actionId,
        announced,
        onRecorded,
        acceptsChanges,
        schema,
        responseStatusOf,
        resultOf: call.resultOf ?? this.#traits.resultOf,
      },
      session ? (args, change) => session.run(run, args, change) : run,
    );
  }

  #takeTime({ toolName, startedAt, endedAt }: HookedCall): boolean {
    if (!startedAt || !endedAt) return false;
    return takeHookedTime(this.recorder, toolName, startedAt.getTime(), endedAt.getTime());
  }

  #recordEnded(call: HookedCall, outcome: ToolOutcome): void {
    const responseStatus = this.#statusOf(outcome, call);
    if (responseStatus === null) return;
    const { argumentsHash, endedAt: sourceTimestamp } = call;
    const facts = {
      ...this.#facts(call),
      responseStatus,
      sourceTimestamp,
      result: this.#resultOf(call, outcome),
    };
    this.#recorder.record(
      argumentsHash === undefined ? facts : { ...facts, arguments: undefined, argumentsHash },
    );
  }

  /** Returns what the model sees of a call's result, for origins; undefined while they are off. */
  #resultOf(call: HookedCall, outcome: ToolOutcome): unknown {
    if (!this.tracesOrigins) return undefined;
    try {
      return shownResult(outcome, call.resultOf ?? this.#traits.resultOf);
    } catch {
      return undefined; // a getter of the framework's result threw
    }
  }

  #facts(call: HookedCall) {
    const { agentId, toolName } = this.#options;
    const name = toolName && this.#usable('toolName', () => toolName(call.toolName), isText);
    return {
      toolName: name || call.toolName,
      arguments: call.arguments,
      sessionId: this.#sessionIdOf(call.sessionId),
      agentId: agentId ?? call.agentId,
      // The user's id applies to all agents, so the framework's names become the names of subagents.
      subagent:
        call.subagent ?? (agentId !== undefined && call.parentAgentIds?.length ? call.agentId : undefined),
      parentAgentIds: agentId === undefined ? call.parentAgentIds : undefined,
      agentName: call.agentId,
      // Ids of frameworks may have another form.
      traceparent: call.traceparent === undefined ? undefined : parseTraceparent(call.traceparent),
    };
  }

  /** Returns the user's id of the session, otherwise the framework's. */
  #sessionIdOf(ofFramework: string | undefined): string | undefined {
    const { sessionId } = this.#options;
    const own = typeof sessionId === 'function' ? this.#usable('sessionId', sessionId, isText) : sessionId;
    return own || ofFramework;
  }

  #statusOf(told: ToolOutcome, call: HookedCall): number | null {
    const { responseStatus } = this.#options;
    const { outcomeOf, thrownByTool, statusOf } = this.#traits;
    const wrapped = outcomeOf ? outcomeOf(told, call) : told;
    if (!wrapped) return null;
    const outcome: ToolOutcome =
      wrapped.ok || !thrownByTool ? wrapped : { ok: false, error: thrownByTool(wrapped.error) };
    const own = responseStatus && this.#usable('responseStatus', () => responseStatus(outcome), isStatus);
    if (own !== undefined) return own;
    const frameworks = statusOf?.(outcome, call);
    if (frameworks !== undefined) return frameworks;
    return call.mayBeRefused ? defaultResponseStatus(outcome, call.signal) : reachedToolStatus(outcome, call);
  }

  /** Calls a user function and returns its result if it is valid. Errors must not reach the agent. */
  #usable<Value>(
    option: string,
    run: () => unknown,
    isUsable: (value: unknown) => value is Value,
  ): Value | undefined {
    let cause: unknown;
    try {
      const value = run();
      if (value === undefined || isUsable(value)) return value;
      ignoreRejection(value);
    } catch (error) {
      cause = error;
    }
    const problem = cause === undefined ? 'returned what cannot be used' : 'threw';
    this.#recorder.failed(option, new Error(`The adapter's option ${option} ${problem}.`, { cause }));
    return undefined;
  }
}

function isText(value: unknown): value is string {
  return typeof value === 'string';
}

function isStatus(value: unknown): value is number | null {
  return value === null || isResponseStatus(value);
}

function isBoolean(value: unknown): value is boolean {
  return typeof value === 'boolean';
}

/** Returns `true` if a filter lists the exact name. Patterns and functions are written for the user's tools. */
function lists(filter: ToolFilter | undefined, toolName: string): boolean {
  return Array.isArray(filter) && filter.includes(toolName);
}

/** Returns `true` if a filter selects a tool. The promise of an async function is not a valid result. */
function names(filter: ToolFilter, toolName: string): unknown {
  if (typeof filter === 'function') {
    const isWanted: unknown = filter(toolName);
    return isWanted instanceof Promise ? isWanted : Boolean(isWanted);
  }
  // Use `search`, because `test` keeps state between calls for patterns with the flag `g`.
  return filter.some((entry) =>
    typeof entry === 'string' ? entry === toolName : toolName.search(entry) >= 0,
  );
}
