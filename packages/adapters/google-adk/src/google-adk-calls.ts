import { AdapterCalls, type AdapterOptions, type HookedCall, toolContent } from '@actlog/recorder/adapter';
import type { Context } from '@google/adk';
import { sessionAround } from './coverage.ts';
import { thrownByTool, toolOutcomeStatus } from './tool-outcome.ts';
import { version } from './version.ts';

/** Creates the `AdapterCalls` of this adapter. */
export function googleAdkCalls(options: AdapterOptions): AdapterCalls {
  return new AdapterCalls(
    {
      framework: 'google-adk',
      sdk: `@actlog/google-adk/${version}`,
      form: 'plugins: [actlog({ guard })]',
      statusOf: toolOutcomeStatus,
      thrownByTool,
      resultOf: toolContent,
    },
    options,
  );
}

/** Returns the properties of a call that ADK provides. A run that a tool starts belongs to the session of its call. */
export function surroundings({
  invocationContext: { session, agent },
  functionCallId,
  abortSignal,
}: Context): Pick<HookedCall, 'sessionId' | 'agentId' | 'callId' | 'signal'> {
  const sessionId = sessionAround() ?? session.id;
  return { sessionId, agentId: agent?.name, callId: functionCallId, signal: abortSignal };
}
