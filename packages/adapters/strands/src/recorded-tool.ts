import type { ToolOutcome } from '@actlog/recorder';
import type { AdapterCalls } from '@actlog/recorder/adapter';
import type { Tool, ToolContext, ToolStreamGenerator } from '@strands-agents/sdk';
import { hookedCall } from './strands-calls.ts';
import { outcomeOf } from './tool-outcome.ts';

/** How a call ends whose tool was left at one of its updates. */
const leftEarly: ToolOutcome = { ok: false, error: new DOMException('The tool was left.', 'AbortError') };

/**
 * A run of a tool, recorded and guarded. A denial is thrown: Strands makes the tool's error result of it, with its
 * message as the text for the model and the error itself for hooks.
 */
export async function* recordedStream(
  tool: Tool,
  calls: AdapterCalls,
  context: ToolContext,
): ToolStreamGenerator {
  const call = await calls.begin(hookedCall(context));
  let outcome = leftEarly;
  let updates: ToolStreamGenerator | undefined;
  try {
    const running = call.step(() => tool.stream(context));
    updates = running;
    let next = await call.step(() => running.next());
    while (!next.done) {
      yield next.value;
      next = await call.step(() => running.next());
    }
    outcome = outcomeOf(next.value);
    return next.value;
  } catch (error) {
    outcome = { ok: false, error };
    throw error;
  } finally {
    const left = outcome === leftEarly ? updates : undefined;
    await call.end(outcome);
    await call.step(() => left?.return(undefined as never));
  }
}
