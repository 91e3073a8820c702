import { ActionDeniedError, hashArguments, type ToolOutcome } from '@actlog/recorder';
import {
  type AdapterCalls,
  abandonedCall,
  type HookedCall,
  processWide,
  withMethods,
} from '@actlog/recorder/adapter';
import { asRecordedCall, type PassedCall } from './recorded-calls.ts';
import type { RunContext } from './run-context.ts';
import { errorMessage, isModelCall } from './tool-message.ts';

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
