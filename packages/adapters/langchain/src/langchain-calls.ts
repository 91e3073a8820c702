import { AdapterCalls, type HookedCall } from '@actlog/recorder/adapter';
import { ownOutcome } from './changed-call.ts';
import type { ActlogOptions } from './options.ts';
import { agentOf, currentRun, type RunContext, sessionOf } from './run-context.ts';
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

/**
 * Returns the properties of a call that LangChain provides.
 *
 * @param run - configuration of the run, if the hook receives it; else that of the current run
 */
export function surroundings(
  run: RunContext | undefined = currentRun(),
): Pick<HookedCall, 'sessionId' | 'agentId'> {
  return { sessionId: sessionOf(run), agentId: agentOf(run) };
}
