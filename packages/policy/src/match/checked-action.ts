import type { ArgumentOrigins, PolicyCheck } from '@actlog/protocol';
import { areBounded } from './shown-arguments.ts';

/** Action of a check that rules are matched against, created by {@link checkedAction}. */
export interface CheckedAction {
  readonly agentId: string;
  readonly sessionId: string | undefined;
  readonly toolName: string;
  readonly argumentsHash: string;
  /**
   * Arguments that the caller chose to show; undefined if they exceed the limit, in which case no condition can be
   * evaluated.
   */
  readonly arguments: Readonly<Record<string, unknown>> | undefined;
  /** Origins of the arguments, by path; undefined if the check has none, in which case no condition can read them. */
  readonly origins: ArgumentOrigins | undefined;
  readonly framework: string | undefined;
  readonly environment: string | undefined;
  /** Person or system on whose behalf the agent acts; undefined for none. */
  readonly principal?: string | undefined;
  /** Name of the agent's subagent that acts; undefined for none. */
  readonly subagent?: string | undefined;
  /** Agents that the agent runs inside, nearest first; undefined for none. */
  readonly parentAgentIds?: readonly string[] | undefined;
  /** Agent above for which a rule is matched; undefined for the agent itself. */
  readonly actsFor?: string | undefined;
}

/**
 * Returns the action of a check's body (`POST /v1/policies/check`). Arguments of more than 500 values or 32,768
 * characters, names included, are omitted to bound the time of the worst condition. Never throws for a body that
 * matches its schema.
 */
export function checkedAction(body: PolicyCheck): CheckedAction {
  const shown = body.action.arguments ?? {};
  return {
    agentId: body.agentId,
    sessionId: body.sessionId,
    toolName: body.action.toolName,
    argumentsHash: body.action.argumentsHash,
    arguments: areBounded(shown) ? shown : undefined,
    origins: body.action.origins,
    framework: body.framework,
    environment: body.environment,
    principal: body.principal,
    subagent: body.subagent,
    parentAgentIds: body.parentAgentIds,
  };
}
