import { ActionDeniedError, hashArguments } from '@actlog/recorder';
import { type AdapterCalls, type HookedCall, processWide, withMethods } from '@actlog/recorder/adapter';
import { asRecordedCall } from './recorded-calls.ts';
import { errorMessage, isModelCall } from './tool-message.ts';

type Invoke = (input: unknown, ...rest: unknown[]) => unknown;

/** A tool, as far as it matters here. */
interface InvokedTool {
  readonly invoke: Invoke;
}

const changedCalls = processWide('@actlog/langchain/changed-calls', () => new WeakSet<HookedCall>());

/** Whether a call ran with other arguments than it was let through with, and was recorded with those. */
export function wasChanged(call: HookedCall): boolean {
  return changedCalls().has(call);
}

/**
 * The same tool for a call that was let through. Middleware further in may change the arguments before the tool is
 * invoked: with others than now, it is another call, which the guard is asked about and which is recorded instead.
 */
export async function watchedTool<Tool>(tool: Tool, call: HookedCall, calls: AdapterCalls): Promise<Tool> {
  if (!isInvoked(tool)) return tool;
  const admitted = await hashArguments(call.arguments);
  const invoke: Invoke = async (input, ...rest) => {
    // Middleware may also invoke the tool itself, with the arguments alone.
    const modelCall = isModelCall(input) ? input : undefined;
    const args = modelCall ? modelCall.args : input;
    const run = () => tool.invoke(input, ...rest);
    if ((await hashArguments(args)) === admitted) return run();
    changedCalls().add(call);
    const changed = { ...call, arguments: args };
    const recorded = { ...changed, callId: call.callId, recorder: calls.recorder, tool };
    try {
      return await calls.run(changed, () => asRecordedCall(recorded, run));
    } catch (error) {
      if (!ActionDeniedError.isInstance(error) || !modelCall) throw error;
      return errorMessage(modelCall, error.message);
    }
  };
  return withMethods(tool, { invoke });
}

function isInvoked<Tool>(tool: Tool): tool is Tool & InvokedTool & object {
  return typeof (tool as Partial<InvokedTool> | undefined)?.invoke === 'function';
}
