import type { ToolOutcome } from '@actlog/recorder';
import { type AdapterCalls, type AdapterOptions, BegunCall } from '@actlog/recorder/adapter';
import type { ToolAfterHookContext, ToolHookContext, ToolHooks } from '@mastra/core/tools';
import { isDelegation } from './delegation.ts';
import { type HookedTool, hookedTool } from './hooked-call.ts';
import type { Invocation } from './invocation.ts';
import { mastraCalls, suspended } from './mastra-calls.ts';
import { enterPlace, preparePlaces } from './place.ts';
import { type RecordedCalls, recordedCalls } from './recorded-calls.ts';
import { SuspensionWatch } from './suspension.ts';

/** What a hook before a call may say: nothing, or what to answer in the tool's place. */
type Answer = Awaited<ReturnType<NonNullable<ToolHooks['beforeToolCall']>>>;

/** A call between its two hooks. */
interface OpenCall {
  /** Undefined for calls that are left out. */
  readonly begun: BegunCall | undefined;
  readonly suspension: SuspensionWatch;
}

/** What both hooks of a call do, and the user's own hooks with them. */
export class RecordingHooks {
  readonly #own: ToolHooks;
  readonly #calls: AdapterCalls;
  readonly #recorded: RecordedCalls;
  readonly #open = new WeakMap<Invocation, OpenCall>();

  constructor(own: ToolHooks, options: AdapterOptions) {
    preparePlaces();
    this.#own = own;
    this.#calls = mastraCalls(options);
    this.#recorded = recordedCalls(this.#calls.recorder);
  }

  /** Lets the user's hook answer, and then the guard. What is thrown is the error that the model reads. */
  async before(context: ToolHookContext): Promise<Answer> {
    const hooked = hookedTool(context);
    const { call, invocation } = hooked;
    const { toolName, sessionId } = call;
    // Before the first `await`: it is to be felt where Mastra goes on to run the tool.
    const delegatedSession = isDelegation(toolName) ? sessionId : undefined;
    const place = enterPlace({ invocation, call, delegatedSession });
    if (!this.#calls.covers(toolName)) {
      this.#open.set(invocation, { begun: undefined, suspension: new SuspensionWatch() });
      return this.#own.beforeToolCall?.(context);
    }
    place.enterCall ??= BegunCall.place(sessionId);
    const answer = await this.#ownAnswer(hooked, context);
    if (answer?.proceed === false) return answer;
    place.enterCall(await this.#begin(hooked));
    place.recordedBy.add(this.#recorded);
  }

  /** Ends the call, and then lets the user's hook know. */
  async after(context: ToolAfterHookContext): Promise<void> {
    await this.end(context);
    await this.#own.afterToolCall?.(context);
  }

  /** Records how a call ended; one that did not come by {@link before} too, though no guard was asked about it. */
  async end(context: ToolAfterHookContext): Promise<void> {
    const hooked = hookedTool(context);
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

  /** What the user's own hook says; the call ends with it where it answers in the tool's place. */
  async #ownAnswer(hooked: HookedTool, context: ToolHookContext): Promise<Answer> {
    try {
      const answer = await this.#own.beforeToolCall?.(context);
      if (answer?.proceed === false) this.#recordOnce(hooked, { ok: true, result: answer.output });
      return answer;
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

  /** Whether an exporter or a wrapped tool has recorded a call that did not come by {@link before}. */
  #isRecorded({ invocation, traced }: HookedTool): boolean {
    const isByTool = this.#recorded.hasByTool(invocation.messages, invocation.toolCallId);
    return this.#recorded.takeExported(traced) || isByTool;
  }

  #recordOnce({ call, invocation }: HookedTool, outcome: ToolOutcome): void {
    if (this.#recorded.takeInvocation(invocation)) this.#calls.record(call, outcome);
  }
}
