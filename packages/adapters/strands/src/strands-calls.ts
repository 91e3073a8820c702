import { AdapterCalls, type AdapterOptions, type HookedCall } from '@actlog/recorder/adapter';
import type { LocalAgent } from '@strands-agents/sdk';
import { agentIdOf, sessionOf } from './agent-identity.ts';
import { toolOutcomeStatus } from './tool-outcome.ts';
import { version } from './version.ts';

/** What passes the calls of Strands to the recorder. */
export function strandsCalls(options: AdapterOptions): AdapterCalls {
  return new AdapterCalls(
    { framework: 'strands', sdk: `@actlog/strands/${version}`, statusOf: toolOutcomeStatus },
    options,
  );
}

/** The parts of a tool's context, and of the events around it, that a call is known by. */
export interface CallContext {
  readonly toolUse: { readonly name: string; readonly toolUseId: string; readonly input: unknown };
  readonly agent: LocalAgent;
  /** Of this call, where Strands has one. Default: the agent's. */
  readonly cancelSignal?: AbortSignal | undefined;
}

/** A call as the recorder takes it. */
export function hookedCall({ toolUse, agent, cancelSignal = agent.cancelSignal }: CallContext): HookedCall {
  return {
    toolName: toolUse.name,
    arguments: toolUse.input,
    callId: toolUse.toolUseId,
    sessionId: sessionOf(agent),
    agentId: agentIdOf(agent),
    signal: cancelSignal,
  };
}
