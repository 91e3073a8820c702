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
}: Context): Pick<HookedCall, 'sessionId' | 'agentId' | 'parentAgentIds' | 'callId' | 'signal'> {
  const sessionId = sessionAround() ?? session.id;
  return {
    sessionId,
    agentId: agent?.name,
    parentAgentIds: agentsAbove(agent),
    callId: functionCallId,
    signal: abortSignal,
  };
}

/** Agent in a tree of agents. */
interface TreeAgent {
  readonly name: string;
  readonly parentAgent?: TreeAgent | undefined;
}

/** Returns the names of the agents that an agent is a subagent of, nearest first. */
function agentsAbove(agent: TreeAgent | undefined): string[] {
  const names: string[] = [];
  for (let above = agent?.parentAgent; above && !names.includes(above.name); above = above.parentAgent) {
    names.push(above.name);
  }
  return names;
}
