import { AdapterCalls, type AdapterOptions, type HookedCall } from '@actlog/recorder/adapter';
import type { Context } from '@google/adk';
import { thrownByTool, toolOutcomeStatus } from './tool-outcome.ts';
import { version } from './version.ts';

/** What passes the calls of ADK to the recorder. */
export function googleAdkCalls(options: AdapterOptions): AdapterCalls {
  return new AdapterCalls(
    {
      framework: 'google-adk',
      sdk: `@actlog/google-adk/${version}`,
      statusOf: toolOutcomeStatus,
      thrownByTool,
    },
    options,
  );
}

/** What ADK knows around a call. */
export function surroundings({
  invocationContext: { session, agent },
  functionCallId,
  abortSignal,
}: Context): Pick<HookedCall, 'sessionId' | 'agentId' | 'callId' | 'signal'> {
  return { sessionId: session.id, agentId: agent?.name, callId: functionCallId, signal: abortSignal };
}
