import { ActionDeniedError, type ToolOutcome } from '@actlog/recorder';
import { type AdapterCalls, abandonedCall, type BegunCall } from '@actlog/recorder/adapter';
import type { Tool, ToolContext, ToolStreamGenerator } from '@strands-agents/sdk';
import { withinCall } from './coverage.ts';
import { noteDenial, noteLetThrough } from './denied-runs.ts';
import { hookedCall } from './strands-calls.ts';
import { outcomeOf } from './tool-outcome.ts';

/** Outcome of a call whose tool was closed at one of its updates. */
const closedEarly: ToolOutcome = {
  ok: false,
  error: abandonedCall('The tool was closed early.'),
};

/**
 * Runs a tool, recorded and guarded. Throws a denial, which Strands converts to an error result with the message for
 * the model and the error for hooks.
 */
export async function* recordedStream(
  tool: Tool,
  calls: AdapterCalls,
  context: ToolContext,
): ToolStreamGenerator {
  const call = await begin(calls, context);
  const step = <Result>(run: () => Result) =>
    call.step(() => withinCall({ calls, agent: context.agent }, run));
  let outcome = closedEarly;
  let updates: ToolStreamGenerator | undefined;
  try {
    const running = step(() => tool.stream(context));
    updates = running;
    let next = await step(() => running.next());
    while (!next.done) {
      yield next.value;
      next = await step(() => running.next());
    }
    outcome = outcomeOf(next.value);
    return next.value;
  } catch (error) {
    outcome = { ok: false, error };
    throw error;
  } finally {
    const left = outcome === closedEarly ? updates : undefined;
    await call.end(outcome);
    await step(() => left?.return(undefined as never));
  }
}

async function begin(calls: AdapterCalls, context: ToolContext): Promise<BegunCall> {
  const { agent, toolUse } = context;
  const call = hookedCall(context, calls);
  try {
    const begun = await calls.begin(call);
    noteLetThrough(agent, toolUse.name);
    return begun;
  } catch (error) {
    if (ActionDeniedError.isInstance(error)) noteDenial(agent, call, error);
    throw error;
  }
}
