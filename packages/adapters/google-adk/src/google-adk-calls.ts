import { AdapterCalls, type AdapterOptions, type HookedCall, toolContent } from '@actlog/recorder/adapter';
import type { Context } from '@google/adk';
import { thrownByTool, toolOutcomeStatus } from './tool-outcome.ts';
import { version } from './version.ts';

/** Creates the `AdapterCalls` of this adapter. */
export function googleAdkCalls(options: AdapterOptions): AdapterCalls {
  return new AdapterCalls(
    {
      framework: 'google-adk',
      sdk: `@actlog/google-adk/${version}`,
      statusOf: toolOutcomeStatus,
      thrownByTool,
      resultOf: toolContent,
    },
    options,
  );
}

/** Returns the properties of a call that ADK provides. */
export function surroundings({
  invocationContext: { session, agent },
  functionCallId,
  abortSignal,
}: Context): Pick<HookedCall, 'sessionId' | 'agentId' | 'callId' | 'signal'> {
  return { sessionId: session.id, agentId: agent?.name, callId: functionCallId, signal: abortSignal };
}
