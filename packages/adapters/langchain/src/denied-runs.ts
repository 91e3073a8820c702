import { ActionDeniedError } from '@actlog/recorder';
import { type AdapterCalls, type HookedCall, maxSameDenials } from '@actlog/recorder/adapter';
import { runsAround } from './graph-runs.ts';
import { innermostCall } from './recorded-calls.ts';

/**
 * Records a call as `AdapterCalls.run` does, at the latest when its caller aborts: LangChain goes on with a tool that is a
 * generator, perhaps without end, and nobody waits for it. Also counts the call's denial in the running graph: a limit on
 * steps may be in the thousands, and a model that repeats a denied call would be called until then.
 *
 * @throws ActionDeniedError when the guard denies the call
 */
export async function runCounted<Result>(
  calls: AdapterCalls,
  call: HookedCall,
  run: () => Result | Promise<Result>,
): Promise<Result> {
  const [graph] = runsAround();
  let running: Promise<Result> | undefined;
  try {
    await calls.run(call, () => {
      graph?.denied.letThrough(call.toolName);
      running = (async () => run())();
      return untilAborted(running, call.signal);
    });
  } catch (error) {
    if (ActionDeniedError.isInstance(error)) noteDenial(call, error);
    if (!running) throw error;
  }
  return running as Promise<Result>;
}

/** Settles like a promise, or is rejected when a signal aborts first. */
function untilAborted<Result>(running: Promise<Result>, signal: AbortSignal | undefined): Promise<Result> {
  if (!signal) return running;
  const { promise, reject } = Promise.withResolvers<never>();
  const abort = () => reject(signal.reason);
  if (signal.aborted) abort();
  else signal.addEventListener('abort', abort, { once: true });
  return Promise.race([running, promise]).finally(() => signal.removeEventListener('abort', abort));
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
