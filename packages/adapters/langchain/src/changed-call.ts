import { ActionDeniedError, hashArguments, type ToolOutcome } from '@actlog/recorder';
import {
  type AdapterCalls,
  abandonedCall,
  type HookedCall,
  processWide,
  withMethods,
} from '@actlog/recorder/adapter';
import { ToolMessage } from '@langchain/core/messages';
import { ToolInvocationError } from 'langchain';
import { asRecordedCall, isWithinCall, type PassedCall } from './recorded-calls.ts';
import type { RunContext } from './run-context.ts';

/** Properties of a tool call that its result message needs. */
interface CalledTool {
  readonly id?: string | undefined;
  readonly name: string;
}

/** A tool call from the model, which a ToolNode passes to the tool unchanged. */
export interface ModelCall {
  readonly type: 'tool_call';
  readonly id?: string;
  readonly name: string;
  readonly args: unknown;
}

/** Returns `true` if a tool is invoked with a call of the model rather than with arguments only. */
export function isModelCall(input: unknown): input is ModelCall {
  return typeof input === 'object' && input !== null && (input as { type?: unknown }).type === 'tool_call';
}

/** Errors behind messages, for an outer hook of this adapter, which only sees the message. */
const causes = processWide('@actlog/langchain/causes', () => new WeakMap<object, unknown>());

/**
 * Creates the message that tells the model why its tool call has no result.
 *
 * @param cause - error thrown by the tool or its guard
 */
export function errorMessage(call: CalledTool, content: string, cause: unknown): ToolMessage {
  const message = new ToolMessage({ content, tool_call_id: call.id ?? '', name: call.name, status: 'error' });
  // The message lives as long as the conversation, so keep the error only if an outer hook needs it.
  if (isWithinCall(call.id)) causes().set(message, cause);
  return message;
}

/** Returns the outcome of a call, even if an inner hook of this adapter has converted an error to a message. */
export function behindMessage(outcome: ToolOutcome): ToolOutcome {
  if (!outcome.ok || !ToolMessage.isInstance(outcome.result)) return outcome;
  const message = outcome.result;
  return causes().has(message) ? { ok: false, error: causes().get(message) } : outcome;
}

/**
 * Creates the message with which LangChain itself reports a tool's error when there is no middleware. Passing the error
 * on from a middleware would end the whole run, so the adapter uses LangChain's text.
 */
export function thrownMessage(call: CalledTool, error: unknown): ToolMessage {
  const content =
    error instanceof ToolInvocationError ? error.message : `${error}\n Please fix your mistakes.`;
  return errorMessage(call, content, error);
}

type Invoke = (input: unknown, ...rest: unknown[]) => unknown;

/** The used part of a tool. */
interface InvokedTool {
  readonly invoke: Invoke;
}

/**
 * Outcomes of tools with the allowed arguments, for calls whose hook sees another outcome. Undefined for a call that ran
 * only with other arguments. Shared by all copies of the package: the hook may be of one copy and the recorder of another.
 */
const outcomes = processWide(
  '@actlog/langchain/own-outcomes',
  () => new WeakMap<HookedCall, ToolOutcome | undefined>(),
);

/**
 * Returns the outcome of a call with its allowed arguments; undefined if it ran only with other arguments and was
 * recorded with those.
 *
 * @param seen - outcome that the hook of the whole call sees
 */
export function ownOutcome(seen: ToolOutcome, call: HookedCall): ToolOutcome | undefined {
  return outcomes().has(call) ? outcomes().get(call) : seen;
}

/**
 * An allowed call on its way to the tool. Inner middleware may change the arguments before it invokes the tool: that is
 * then another call, which is checked and recorded separately.
 */
export class WatchedCall implements PassedCall {
  readonly #call: HookedCall;
  readonly #calls: AdapterCalls;
  /** Hash of the allowed arguments; undefined if no guard depends on them. */
  readonly #admitted: string | undefined;
  #outcome: ToolOutcome | undefined;

  private constructor(call: HookedCall, calls: AdapterCalls, admitted: string | undefined) {
    this.#call = call;
    this.#calls = calls;
    this.#admitted = admitted;
  }

  /** Creates the call after its guard has seen it. */
  static async of(call: HookedCall, calls: AdapterCalls): Promise<WatchedCall> {
    return new WatchedCall(call, calls, calls.isGuarding ? await hashArguments(call.arguments) : undefined);
  }

  /** Notes that the error of the tool, if it threw one, has become a result for the model. */
  noteResult(): void {
    if (this.#outcome && !this.#outcome.ok) outcomes().set(this.#call, this.#outcome);
  }

  async invoke(
    tool: object,
    input: unknown,
    config: RunContext | undefined,
    run: () => unknown,
  ): Promise<unknown> {
    const modelCall = isModelCall(input) ? input : undefined;
    const args = modelCall ? modelCall.args : input;
    const invoked = () => {
      // A `signal` of `createAgent` is only visible to the tool, and may have aborted while the call was held.
      config?.signal?.throwIfAborted();
      return run();
    };
    if (this.#admitted === undefined) return this.#noting(run, config?.signal);
    if ((await hashArguments(args)) === this.#admitted) return this.#noting(invoked, config?.signal);
    const call = this.#call;
    outcomes().set(call, this.#outcome);
    const changed = { ...call, arguments: args };
    const recorded = { ...changed, callId: call.callId, calls: this.#calls, tool };
    try {
      return await this.#calls.run(changed, () => asRecordedCall(recorded, invoked));
    } catch (error) {
      if (!ActionDeniedError.isInstance(error) || !modelCall) throw error;
      return errorMessage(modelCall, error.message, error);
    }
  }

  /** Runs the tool and notes its outcome. */
  async #noting(run: () => unknown, signal: AbortSignal | undefined): Promise<unknown> {
    try {
      const result = await run();
      this.#note({ ok: true, result });
      return result;
    } catch (error) {
      this.#note({ ok: false, error });
      // The hook sees the error, but not this signal.
      if (signal?.aborted && (signal.reason as { name?: unknown } | undefined)?.name !== 'TimeoutError') {
        outcomes().set(this.#call, { ok: false, error: abandonedCall('The caller aborted the run.') });
      }
      throw error;
    }
  }

  #note(outcome: ToolOutcome): void {
    this.#outcome = outcome;
    if (outcomes().has(this.#call)) outcomes().set(this.#call, outcome);
  }
}

/** Returns the same tool for an allowed call. */
export async function watchedTool<Tool>(tool: Tool, call: HookedCall, calls: AdapterCalls): Promise<Tool> {
  if (!isInvoked(tool)) return tool;
  const watched = await WatchedCall.of(call, calls);
  const invoke: Invoke = (input, ...rest) =>
    watched.invoke(tool, input, rest[0] as RunContext | undefined, () => tool.invoke(input, ...rest));
  return withMethods(tool, { invoke });
}

function isInvoked<Tool>(tool: Tool): tool is Tool & InvokedTool & object {
  return typeof (tool as Partial<InvokedTool> | undefined)?.invoke === 'function';
}
