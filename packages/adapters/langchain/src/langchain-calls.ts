import { ActionDeniedError } from '@actlog/recorder';
import {
  AdapterCalls,
  type AdapterOptions,
  type HookedCall,
  MethodHooks,
  maxSameDenials,
  ProcessCoverage,
  type Wrapping,
} from '@actlog/recorder/adapter';
import type { ClientTool } from '@langchain/core/tools';
import { behindMessage, errorMessage, isModelCall, ownOutcome } from './changed-call.ts';
import { outerGraphNames, runsAround } from './graph-runs.ts';
import { asRecordedCall, innermostCall } from './recorded-calls.ts';
import { requestingSession } from './requested-calls.ts';
import { agentOf, conversationOf, nodeMessages, type RunContext, runWith } from './run-context.ts';
import { shownResult, thrownByTool, toolOutcomeStatus } from './tool-outcome.ts';

/** Version of this package; the release writes it. */
export const version = '0.0.0';

/** Methods of the framework's classes that this package replaces. */
export const hookedMethods: MethodHooks = new MethodHooks('@actlog/langchain/hooked-methods');

/** Creates the `AdapterCalls` of this adapter. */
export function langChainCalls(options: ActlogOptions): AdapterCalls {
  return new AdapterCalls(
    {
      framework: 'langchain',
      sdk: `@actlog/langchain/${version}`,
      form: 'middleware: [actlog({ guard })] or actlog.tools(tools, { guard })',
      optionNames: ['onToolError'],
      outcomeOf: (outcome, call) => {
        const own = ownOutcome(outcome, call);
        return own && behindMessage(own);
      },
      statusOf: toolOutcomeStatus,
      thrownByTool,
      resultOf: shownResult,
    },
    options,
  );
}

/** A call in an agent or a graph. */
interface PlacedCall {
  readonly toolName: string;
  readonly callId: string | undefined;
  readonly run: RunContext;
  /** Messages before the call. */
  readonly messages: unknown;
}

/** Returns the properties of a call that LangChain provides, and notes the call for later turns of its conversation. */
export function surroundings(
  calls: AdapterCalls,
  { toolName, callId, run, messages }: PlacedCall,
): Pick<HookedCall, 'sessionId' | 'agentId' | 'parentAgentIds'> {
  const sessionId = conversationOf(run, messages, calls);
  if (callId !== undefined) calls.conversations.note(messages, { toolName, callId }, sessionId);
  return { sessionId, agentId: agentOf(run), parentAgentIds: outerGraphNames() };
}

/** Options of the adapter. All are optional. */
export interface ActlogOptions extends AdapterOptions {
  /**
   * Handling of errors thrown by tools: `message` reports them to the model, as LangChain does without middleware;
   * `throw` passes them to outer middleware, and ends the run if there is none. Default `message`.
   */
  readonly onToolError?: 'message' | 'throw' | undefined;
}

/** An invocation of a tool. */
interface Invocation {
  readonly input: unknown;
  readonly config: RunContext | undefined;
  readonly run: () => unknown;
  readonly wrapping: Wrapping;
}

/** Records an invocation of a tool, and runs it if the guard allows it. */
export async function recordInvocation(
  tool: ClientTool,
  calls: AdapterCalls,
  { input, config, run, wrapping }: Invocation,
): Promise<unknown> {
  const modelCall = isModelCall(input) ? input : undefined;
  const current = runWith(config);
  const called = { toolName: tool.name, callId: modelCall?.id };
  const args = modelCall ? modelCall.args : input;
  const place = surroundings(calls, { ...called, run: current, messages: nodeMessages(current) });
  const call = {
    ...place,
    sessionId: place.sessionId ?? requestingSession({ name: tool.name, id: modelCall?.id, args }),
    ...called,
    arguments: args,
    wrapping,
    signal: current.signal,
  };
  const recorded = { ...call, calls, tool, runName: config?.runName };
  try {
    return await runCounted(calls, call, () => asRecordedCall(recorded, run));
  } catch (error) {
    if (!ActionDeniedError.isInstance(error) || !modelCall) throw error;
    return errorMessage(modelCall, error.message, error);
  }
}

/** Recorders of `actlog.install()`. */
export const processCoverage: ProcessCoverage = new ProcessCoverage('@actlog/langchain/installed');

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
