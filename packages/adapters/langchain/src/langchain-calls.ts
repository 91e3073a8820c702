import { ActionDeniedError } from '@actlog/recorder';
import { AdapterCalls, type AdapterOptions, type HookedCall, type Wrapping } from '@actlog/recorder/adapter';
import type { ClientTool } from '@langchain/core/tools';
import { behindMessage, errorMessage, isModelCall, ownOutcome } from './changed-call.ts';
import { runCounted } from './denied-runs.ts';
import { outerGraphNames } from './graph-runs.ts';
import { asRecordedCall } from './recorded-calls.ts';
import { requestingSession } from './requested-calls.ts';
import { agentOf, conversationOf, nodeMessages, type RunContext, runWith } from './run-context.ts';
import { shownResult } from './shown-texts.ts';
import { thrownByTool, toolOutcomeStatus } from './tool-outcome.ts';
import { version } from './version.ts';

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
