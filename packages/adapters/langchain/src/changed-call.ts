import { ActionDeniedError, hashArguments, type ToolOutcome } from '@actlog/recorder';
import { type AdapterCalls, type HookedCall, withMethods } from '@actlog/recorder/adapter';
import { asRecordedCall } from './recorded-calls.ts';
import type { RunContext } from './run-context.ts';
import { errorMessage, isModelCall } from './tool-message.ts';

type Invoke = (input: unknown, ...rest: unknown[]) => unknown;

/** A tool, as far as it matters here. */
interface InvokedTool {
  readonly invoke: Invoke;
}

/** How calls ended as they were let through, of those that ran with other arguments too: undefined where they did not. */
const outcomes = new WeakMap<HookedCall, ToolOutcome | undefined>();

/**
 * How a call ended as it was let through; undefined where it ran only with other arguments, and was recorded with those.
 *
 * @param told - how it ended in all
 */
export function ownOutcome(told: ToolOutcome, call: HookedCall): ToolOutcome | undefined {
  return outcomes.has(call) ? outcomes.get(call) : told;
}

/**
 * The same tool for a call that was let through. Middleware further in may change the arguments before the tool is
 * invoked: with others than now, it is another call, which the guard is asked about and which is recorded instead.
 */
export async function watchedTool<Tool>(tool: Tool, call: HookedCall, calls: AdapterCalls): Promise<Tool> {
  if (!isInvoked(tool)) return tool;
  const admitted = await hashArguments(call.arguments);
  let own: ToolOutcome | undefined;
  const ended = (outcome: ToolOutcome) => {
    own = outcome;
    if (outcomes.has(call)) outcomes.set(call, own);
  };
  const invoke: Invoke = async (input, ...rest) => {
    // Middleware may also invoke the tool itself, with the arguments alone.
    const modelCall = isModelCall(input) ? input : undefined;
    const args = modelCall ? modelCall.args : input;
    const run = () => {
      // A `signal` of `createAgent` is known to the tool alone, and may have aborted while the call was held.
      (rest[0] as RunContext | undefined)?.signal?.throwIfAborted();
      return tool.invoke(input, ...rest);
    };
    if ((await hashArguments(args)) === admitted) return told(run, ended);
    outcomes.set(call, own);
    const changed = { ...call, arguments: args };
    const recorded = { ...changed, callId: call.callId, recorder: calls.recorder, tool };
    try {
      return await calls.run(changed, () => asRecordedCall(recorded, run));
    } catch (error) {
      if (!ActionDeniedError.isInstance(error) || !modelCall) throw error;
      return errorMessage(modelCall, error.message, error);
    }
  };
  return withMethods(tool, { invoke });
}

/** Runs a tool, and tells how that ended. */
async function told<Result>(
  run: () => Result,
  ended: (outcome: ToolOutcome) => void,
): Promise<Awaited<Result>> {
  try {
    const result = await run();
    ended({ ok: true, result });
    return result;
  } catch (error) {
    ended({ ok: false, error });
    throw error;
  }
}

function isInvoked<Tool>(tool: Tool): tool is Tool & InvokedTool & object {
  return typeof (tool as Partial<InvokedTool> | undefined)?.invoke === 'function';
}
