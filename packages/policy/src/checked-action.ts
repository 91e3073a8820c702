import type { PolicyCheck } from '@actlog/protocol';
import { areBounded } from './shown-arguments.ts';

/** What a rule is asked about: the action of one check, as {@link checkedAction} makes it. */
export interface CheckedAction {
  readonly agentId: string;
  readonly sessionId: string | undefined;
  readonly toolName: string;
  readonly argumentsHash: string;
  /** What the caller chose to show; undefined where it is beyond the bound, and then no condition can be told. */
  readonly arguments: Readonly<Record<string, unknown>> | undefined;
  readonly framework: string | undefined;
  readonly environment: string | undefined;
}

/**
 * The action of a check's body (`POST /v1/policies/check`). Arguments of more than 500 values or 32,768 characters,
 * names included, are left out: that bounds the time of the worst condition. Never throws for a body that fits its
 * schema.
 */
export function checkedAction(body: PolicyCheck): CheckedAction {
  const shown = body.action.arguments ?? {};
  return {
    agentId: body.agentId,
    sessionId: body.sessionId,
    toolName: body.action.toolName,
    argumentsHash: body.action.argumentsHash,
    arguments: areBounded(shown) ? shown : undefined,
    framework: body.framework,
    environment: body.environment,
  };
}
