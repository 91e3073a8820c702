import { AdapterCalls, type HookedCall } from '@actlog/recorder/adapter';
import { ownOutcome } from './changed-call.ts';
import type { ActlogOptions } from './options.ts';
import { agentOf, currentRun, type RunContext, sessionOf } from './run-context.ts';
import { behindMessage } from './tool-message.ts';
import { thrownByTool, toolOutcomeStatus } from './tool-outcome.ts';
import { version } from './version.ts';

/** What passes LangChain's calls to the recorder. */
export function langChainCalls(options: ActlogOptions): AdapterCalls {
  return new AdapterCalls(
    {
      framework: 'langchain',
      sdk: `@actlog/langchain/${version}`,
      outcomeOf: (told, call) => {
        const own = ownOutcome(told, call);
        return own && behindMessage(own);
      },
      statusOf: toolOutcomeStatus,
      thrownByTool,
    },
    options,
  );
}

/**
 * What LangChain knows around a call.
 *
 * @param run - the configuration of the run, where the hook is given it; else that of the run under way
 * @param messages - the conversation so far, where the hook sees it
 */
export function surroundings(
  run: RunContext | undefined = currentRun(),
  messages?: unknown,
): Pick<HookedCall, 'sessionId' | 'agentId'> {
  return { sessionId: sessionOf(run, messages), agentId: agentOf(run) };
}
