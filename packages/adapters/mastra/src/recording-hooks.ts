import type { ToolOutcome } from '@actlog/recorder';
import { type AdapterCalls, type AdapterOptions, BegunCall, type HookedCall } from '@actlog/recorder/adapter';
import type { ToolAfterHookContext, ToolHookContext, ToolHooks } from '@mastra/core/tools';
import { enterScope, hookInstructions, prepareScopes } from './call-scope.ts';
import { argumentsOf, isDelegation, mastraCalls, suspended } from './mastra-calls.ts';
import { type RecordedCalls, recordedCalls, type TracedCall } from './recorded-calls.ts';
import {
  type Invocation,
  rememberInConversation,
  rememberRun,
  SuspensionWatch,
  sessionOf,
} from './session.ts';

/** Result of a hook before a call: undefined, or a result in place of the tool's. */
type HookResult = Awaited<ReturnType<NonNullable<ToolHooks['beforeToolCall']>>>;

/** A call between its two hooks. */
interface OpenCall {
  /** Undefined for calls that are not covered. */
  readonly begun: BegunCall | undefined;
  readonly suspension: SuspensionWatch;
}

/** Implements both hooks of a call, including the user's. */
export class RecordingHooks {
  readonly #own: ToolHooks;
  readonly #calls: AdapterCalls;
  readonly #recorded: RecordedCalls;
  readonly #open = new WeakMap<Invocation, OpenCall>();

  readonly #cover: (own: ToolHooks) => ToolHooks;

  /** @param cover - creates hooks with the same options, for inner agents */
  constructor(own: ToolHooks, options: AdapterOptions, cover: (own: ToolHooks) => ToolHooks) {
    prepareScopes();
    this.#own = own;
    this.#cover = cover;
    this.#calls = mastraCalls(options);
    this.#recorded = recordedCalls(this.#calls.recorder);
    if (this.#calls.tracesOrigins) hookInstructions();
  }

  /** Runs the user's hook and then the guard. The model reads the error that is thrown. */
  async before(context: ToolHookContext): Promise<HookResult> {
    const hooked = hookedTool(context, this.#calls);
    const { call, invocation } = hooked;
    const { toolName, sessionId } = call;
    rememberRun(this.#calls, call, invocation.messages, invocation);
    // Before the first `await`, so that it takes effect where Mastra continues to run the tool.
    const delegatedSession = isDelegation(toolName) ? sessionId : undefined;
    const scope = enterScope({ invocation, call, delegatedSession, cover: this.#cover });
    if (!this.#calls.covers(toolName)) {
      this.#open.set(invocation, { begun: undefined, suspension: new SuspensionWatch() });
      return this.#own.beforeToolCall?.(context);
    }
    scope.enterCall ??= BegunCall.place(sessionId);
    const result = await this.#runOwnHook(hooked, context);
    if (result?.proceed === false) return result;
    scope.enterCall(await this.#begin(hooked));
    scope.recordedBy.add(this.#recorded);
  }

  /** Ends the call, and then runs the user's hook. */
  async after(context: ToolAfterHookContext): Promise<void> {
    await this.end(context);
    await this.#own.afterToolCall?.(context);
  }

  /** Records the outcome of a call, including one that did not pass {@link before} and was therefore not guarded. */
  async end(context: ToolAfterHookContext): Promise<void> {
    const hooked = hookedTool(context, this.#calls);
    const { call, invocation } = hooked;
    const { output, error } = context;
    const ended: ToolOutcome = 'error' in context ? { ok: false, error } : { ok: true, result: output };
    const open = this.#open.get(invocation);
    this.#open.delete(invocation);
    if (open) await open.begun?.end(open.suspension.isSuspended ? suspended : ended);
    else if (this.#calls.covers(call.toolName) && !this.#isRecorded(hooked)) {
      this.#recordOnce(hooked, ended);
    }
  }

  /** Runs the user's hook; if it returns a result in place of the tool's, the call ends. */
  async #runOwnHook(hooked: HookedTool, context: ToolHookContext): Promise<HookResult> {
    try {
      const result = await this.#own.beforeToolCall?.(context);
      if (result?.proceed === false) this.#recordOnce(hooked, { ok: true, result: result.output });
      return result;
    } catch (error) {
      this.#recordOnce(hooked, { ok: false, error });
      throw error;
    }
  }

  async #begin({ call, invocation }: HookedTool): Promise<BegunCall> {
    try {
      const begun = await this.#calls.begin(call);
      this.#open.set(invocation, { begun, suspension: new SuspensionWatch(invocation) });
      return begun;
    } catch (error) {
      this.#recorded.takeInvocation(invocation); // the guard has recorded it
      throw error;
    }
  }

  /** Returns `true` if an exporter or a wrapped tool has recorded a call that did not pass {@link before}. */
  #isRecorded({ invocation, traced }: HookedTool): boolean {
    const isByTool = this.#recorded.hasByTool(invocation.messages, invocation.toolCallId);
    return this.#recorded.takeExported(traced) || isByTool;
  }

  #recordOnce({ call, invocation }: HookedTool, outcome: ToolOutcome): void {
    if (this.#recorded.takeInvocation(invocation)) this.#calls.record(call, outcome);
  }
}

/** A call as reported to a hook. */
interface HookedTool {
  readonly call: HookedCall;
  /** The same object for both hooks of a call. */
  readonly invocation: Invocation;
  readonly traced: TracedCall;
}

/** Converts the context of a hook to a call for the recorder. */
function hookedTool(
  { toolName, input, context, metadata }: ToolHookContext,
  calls: AdapterCalls,
): HookedTool {
  const isObject = typeof context === 'object' && context !== null;
  const invocation: Invocation = isObject ? context : {};
  const agentId = metadata?.agentId;
  const call = {
    toolName,
    arguments: argumentsOf(toolName, input),
    callId: invocation.toolCallId,
    sessionId: sessionOf(invocation, calls),
    agentId: typeof agentId === 'string' ? agentId : undefined,
    signal: invocation.abortSignal,
  };
  rememberInConversation(calls, call, invocation.messages);
  const traceId = invocation.tracingContext?.currentSpan?.traceId;
  return { call, invocation, traced: { traceId, callId: invocation.toolCallId } };
}
