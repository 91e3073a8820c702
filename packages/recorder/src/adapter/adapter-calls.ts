import { prepareCalls, type RunningCall } from '../active-call.ts';
import type { AdapterRecorder } from '../adapter-recorder.ts';
import { ignoreRejection } from '../ignore-rejection.ts';
import { processWidePerOwner } from '../process-wide.ts';
import type { Recorder } from '../recorder.ts';
import { defaultResponseStatus, isResponseStatus, type ToolOutcome } from '../response-status.ts';
import { prepareSessions } from '../session.ts';
import { sharedRecorder } from '../shared-recorder.ts';
import { checkAdapterOptions } from './adapter-option-checks.ts';
import type { AdapterOptions, ToolFilter } from './adapter-options.ts';
import type { AdapterTraits } from './adapter-traits.ts';
import { BegunCall } from './begun-call.ts';
import type { HookedCall } from './hooked-call.ts';
import {
  isUnhookedCall,
  noteHookedCall,
  noteUnhookedCall,
  takeHookedCall,
  takeUnhookedCall,
} from './hooked-calls.ts';
import { withCallId } from './wrapped-call.ts';

/** What told a recorder of calls. */
const claimed = processWidePerOwner('@actlog/recorder/claimed', () => new WeakSet<object>());

/** What every adapter does with a framework's calls: applies the user's options and passes them to the recorder. */
export class AdapterCalls {
  /**
   * The recorder that the options name, else the one of this process. What adapters remember of their calls is kept by
   * it, so that a call which several hooks see is recorded once for each recorder.
   */
  readonly recorder: Recorder;
  readonly #options: AdapterOptions;
  readonly #traits: AdapterTraits;
  /** The same recorder, with the adapter's names and guard. */
  readonly #recorder: AdapterRecorder;

  /**
   * @throws when neither a recorder is given nor the environment holds one that can be used; see `sharedRecorder`
   * @throws RangeError or TypeError when an option cannot be used
   */
  constructor(traits: AdapterTraits, options: AdapterOptions = {}) {
    checkAdapterOptions(options);
    prepareCalls();
    prepareSessions();
    const { framework, sdk, canHold = true } = traits;
    const guard = canHold ? options.guard : { ...options.guard, holdTimeoutMs: 0 };
    this.#options = options;
    this.#traits = traits;
    this.recorder = options.recorder ?? sharedRecorder();
    this.#recorder = this.recorder.forAdapter({ framework, sdk, guard });
  }

  /** Whether the guard may keep a call from running. */
  get isGuarding(): boolean {
    return this.#recorder.isGuarding;
  }

  /** Whether the options name this tool. */
  covers(toolName: string): boolean {
    const { include, exclude } = this.#options;
    const isNamed = (option: string, filter: ToolFilter) =>
      this.#usable(option, () => names(filter, toolName), isBoolean);
    const isIncluded = include === undefined || (isNamed('include', include) ?? true);
    return isIncluded && !(exclude && isNamed('exclude', exclude));
  }

  /**
   * Runs a call: recorded, and guarded where the guard says so. Calls within it that know of no session are in its own.
   *
   * @throws ActionDeniedError when the guard does not let it run; the adapter tells the model in the framework's way
   */
  run<Result>(call: HookedCall, run: () => Result | Promise<Result>): Promise<Result> {
    const { callId, wrapping } = call;
    noteHookedCall(this.recorder, call);
    return callId === undefined && wrapping
      ? withCallId(wrapping, (ownId) => this.#run(call, ownId, run))
      : this.#run(call, callId, run);
  }

  /**
   * {@link AdapterCalls.run} for hooks that cannot put the whole call in one function.
   *
   * @throws ActionDeniedError when the guard does not let it run
   */
  begin(call: HookedCall): Promise<BegunCall> {
    return BegunCall.begin((body) => this.run(call, body));
  }

  /**
   * Whether the recorder has no call yet that it was told of by this object; from then on, it has one. For hooks that
   * hear of a call when it has ended, all by the same object.
   */
  claim(told: object): boolean {
    const all = claimed(this.recorder);
    if (all.has(told)) return false;
    all.add(told);
    return true;
  }

  /**
   * Says that this adapter records the call, before it is told how that ended: hooks that hear of every framework's
   * calls may be told sooner. It is then recorded without its id, or by {@link AdapterCalls.recordLate}.
   */
  note(call: { readonly toolName: string; readonly callId: string }): void {
    if (!isUnhookedCall(this.recorder, call)) noteHookedCall(this.recorder, call);
  }

  /** Records a call that has ended, unless its end was no end. */
  record(call: HookedCall, outcome: ToolOutcome): void {
    noteHookedCall(this.recorder, call);
    this.#recordEnded(call, outcome);
  }

  /**
   * The same for hooks that are told of a call late, or have said before that they record it: one that a hook for every
   * framework's calls has recorded by then is left out.
   */
  recordLate(call: HookedCall, outcome: ToolOutcome): void {
    if (!takeUnhookedCall(this.recorder, call)) this.#recordEnded(call, outcome);
  }

  /**
   * The same for hooks that hear of every framework's calls: one that its framework's own adapter had is left out. That
   * is known by the id; without one, by `startedIn` being a call of the same tool.
   */
  recordUnhooked(call: HookedCall, outcome: ToolOutcome): void {
    const isHooked =
      call.callId === undefined
        ? call.startedIn !== undefined && call.startedIn.toolName === this.#facts(call).toolName
        : takeHookedCall(this.recorder, call);
    if (isHooked) return;
    noteUnhookedCall(this.recorder, call);
    this.#recordEnded(call, outcome);
  }

  /** The innermost call of the recorder that is running here, for `startedIn`. */
  currentCall(): RunningCall | undefined {
    return this.#recorder.currentCall();
  }

  #run<Result>(
    call: HookedCall,
    callId: string | undefined,
    run: () => Result | Promise<Result>,
  ): Promise<Result> {
    const { signal, actionId } = call;
    const responseStatusOf = (outcome: ToolOutcome) => this.#statusOf(outcome, call);
    const facts = this.#facts(call);
    const session = facts.sessionId === undefined ? undefined : this.#recorder.session(facts.sessionId);
    return this.#recorder.toolCall(
      { ...facts, callId, signal, actionId, responseStatusOf },
      session ? () => session.run(run) : run,
    );
  }

  #recordEnded(call: HookedCall, outcome: ToolOutcome): void {
    const responseStatus = this.#statusOf(outcome, call);
    if (responseStatus === null) return;
    const { argumentsHash, endedAt: sourceTimestamp } = call;
    const facts = { ...this.#facts(call), responseStatus, sourceTimestamp };
    this.#recorder.record(
      argumentsHash === undefined ? facts : { ...facts, arguments: undefined, argumentsHash },
    );
  }

  #facts(call: HookedCall) {
    const { agentId, sessionId, toolName } = this.#options;
    const session =
      typeof sessionId === 'function' ? this.#usable('sessionId', sessionId, isText) : sessionId;
    const name = toolName && this.#usable('toolName', () => toolName(call.toolName), isText);
    return {
      toolName: name || call.toolName,
      arguments: call.arguments,
      sessionId: session || call.sessionId,
      agentId: agentId ?? call.agentId,
    };
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
    return frameworks === undefined
      ? defaultResponseStatus(outcome, call.signal?.aborted ?? false)
      : frameworks;
  }

  /** What one of the user's functions returns, where it can be used; what it throws must not reach the agent. */
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

/** Whether a filter names a tool; the promise that an asynchronous one returns is no answer. */
function names(filter: ToolFilter, toolName: string): unknown {
  if (typeof filter === 'function') {
    const answer: unknown = filter(toolName);
    return answer instanceof Promise ? answer : Boolean(answer);
  }
  // `search` and not `test`, which a pattern with the flag `g` answers differently every other time.
  return filter.some((entry) =>
    typeof entry === 'string' ? entry === toolName : toolName.search(entry) >= 0,
  );
}
