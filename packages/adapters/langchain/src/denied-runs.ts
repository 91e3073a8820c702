import { ActionDeniedError } from '@actlog/recorder';
import { type AdapterCalls, type HookedCall, maxSameDenials } from '@actlog/recorder/adapter';
import { runsAround } from './graph-runs.ts';
import { innermostCall } from './recorded-calls.ts';

/**
 * Records a call as `AdapterCalls.run` does, and counts its denial in the running graph: a limit on steps may be in the
 * thousands, and a model that repeats a denied call would be called until then.
 *
 * @throws ActionDeniedError when the guard denies the call
 */
export async function runCounted<Result>(
  calls: AdapterCalls,
  call: HookedCall,
  run: () => Result | Promise<Result>,
): Promise<Result> {
  const [graph] = runsAround();
  try {
    return await calls.run(call, () => {
      graph?.denied.letThrough(call.toolName);
      return run();
    });
  } catch (error) {
    if (ActionDeniedError.isInstance(error)) noteDenial(call, error);
    throw error;
  }
}

/**
 * Returns the final message of the running graph, in place of its model's, once the model has repeated a denied call too
 * often; undefined while the graph goes on. A model that a tool calls goes on, too.
 *
 * @throws ActionDeniedError when the graph calls its models all the same, again and again
 */
export function endOfRun(): string | undefined {
  const [graph] = runsAround();
  if (graph?.denied.reason === undefined || graph.startedIn !== innermostCall()) return undefined;
  graph.endings += 1;
  if (graph.endings > maxSameDenials && graph.denial) throw graph.denial;
  return graph.denied.reason;
}

/** The end of a graph's run is a denial for the graph whose tool runs it: its model might start it again and again. */
function noteDenial(call: HookedCall, denial: ActionDeniedError): void {
  for (const graph of runsAround()) {
    if (!graph.denied.deny(call, denial)) return;
    graph.denial = denial;
  }
}
