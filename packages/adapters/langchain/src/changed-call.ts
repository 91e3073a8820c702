import { ActionDeniedError, hashArguments, type ToolOutcome } from '@actlog/recorder';
import { type AdapterCalls, type HookedCall, withMethods } from '@actlog/recorder/adapter';
import { asRecordedCall } from './recorded-calls.ts';
import type { RunContext } from './run-context.ts';
import { errorMessage, isModelCall } from './tool-message.ts';

type Invoke = (input: unknown, ...rest: unknown[]) => unknown;

/** The used part of a tool. */
interface InvokedTool {
  readonly invoke: Invoke;
}

/**
 * Outcomes with the allowed arguments, for calls that also ran with other arguments; undefined if they ran only with
 * those.
 */
const outcomes = new WeakMap<HookedCall, ToolOutcome | undefined>();

/**
 * Returns the outcome of a call with its allowed arguments; undefined if it ran only with other arguments and was
 * recorded with those.
 *
 * @param told - outcome of the whole call
 */
export function ownOutcome(told: ToolOutcome, call: HookedCall): ToolOutcome | undefined {
  return outcomes.has(call) ? outcomes.get(call) : told;
}

/**
 * Returns the same tool for an allowed call. Inner middleware may change the arguments before it invokes the tool: that
 * is then another call, which is checked and recorded separately.
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
    // Middleware may also invoke the tool itself, with only the arguments.
    const modelCall = isModelCall(input) ? input : undefined;
    const args = modelCall ? modelCall.args : input;
    const run = () => {
      // A `signal` of `createAgent` is only visible to the tool, and may have aborted while the call was held.
      (rest[0] as RunContext | undefined)?.signal?.throwIfAborted();
      return tool.invoke(input, ...rest);
    };
    if ((await hashArguments(args)) === admitted) return told(run, ended);
    outcomes.set(call, own);
    const changed = { ...call, arguments: args };
    const recorded = { ...changed, callId: call.callId, calls, tool };
    try {
      return await calls.run(changed, () => asRecordedCall(recorded, run));
    } catch (error) {
      if (!ActionDeniedError.isInstance(error) || !modelCall) throw error;
      return errorMessage(modelCall, error.message, error);
    }
  };
  return withMethods(tool, { invoke });
}

/** Runs a tool and reports its outcome. */
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
