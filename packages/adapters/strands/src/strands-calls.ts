import { AdapterCalls, type AdapterOptions, type HookedCall } from '@actlog/recorder/adapter';
import type { LocalAgent } from '@strands-agents/sdk';
import { agentIdOf, sessionOf } from './agent-identity.ts';
import { shownResult, toolOutcomeStatus } from './tool-outcome.ts';
import { version } from './version.ts';

/**
 * Tool with which Strands receives an agent's typed result and a swarm's handoff. A run with a schema cannot end
 * without it: Strands calls the model again until it succeeds.
 */
const structuredOutput = 'strands_structured_output';

/** Creates the `AdapterCalls` of this adapter. */
export function strandsCalls(options: AdapterOptions): AdapterCalls {
  const sdk = `@actlog/strands/${version}`;
  return new AdapterCalls(
    {
      framework: 'strands',
      sdk,
      form: 'interventions: [actlog({ guard })] or actlog.tools(tools, { guard })',
      statusOf: toolOutcomeStatus,
      resultOf: shownResult,
      internalTools: [structuredOutput],
    },
    options,
  );
}

/** Properties of a tool's context, and of its events, that identify a call. */
export interface CallContext {
  readonly toolUse: { readonly name: string; readonly toolUseId: string; readonly input: unknown };
  readonly agent: LocalAgent;
  /** Signal of this call, if Strands has one. Default: the agent's. */
  readonly cancelSignal?: AbortSignal | undefined;
}

/** Converts a context to a call for the recorder. */
export function hookedCall(
  { toolUse, agent, cancelSignal = agent.cancelSignal }: CallContext,
  calls: AdapterCalls,
): HookedCall {
  const { name: toolName, toolUseId: callId } = toolUse;
  const sessionId = sessionOf(agent, calls);
  calls.conversations.note(agent.messages, { toolName, callId }, sessionId);
  return {
    toolName,
    arguments: toolUse.input,
    callId,
    sessionId,
    agentId: agentIdOf(agent),
    signal: cancelSignal,
  };
}
