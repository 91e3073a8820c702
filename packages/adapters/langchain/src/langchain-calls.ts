import { AdapterCalls, type HookedCall } from '@actlog/recorder/adapter';
import { ownOutcome } from './changed-call.ts';
import { outerGraphNames } from './graph-runs.ts';
import type { ActlogOptions } from './options.ts';
import { agentOf, conversationOf, type RunContext } from './run-context.ts';
import { shownResult } from './shown-texts.ts';
import { behindMessage } from './tool-message.ts';
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
