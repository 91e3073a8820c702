import { hash } from 'node:crypto';
import type { PolicyCheck } from '@actlog/protocol';

/** The action that a check is about, with the variables that a condition may read. */
export interface CheckedAction {
  readonly agentId: string;
  readonly sessionId: string | undefined;
  readonly toolName: string;
  readonly argumentsHash: string;
  readonly arguments: Readonly<Record<string, unknown>>;
  readonly framework: string | undefined;
  readonly environment: string | undefined;
}

/** The action of a check's body. */
export function checkedAction(body: PolicyCheck): CheckedAction {
  return {
    agentId: body.agentId,
    sessionId: body.sessionId,
    toolName: body.action.toolName,
    argumentsHash: body.action.argumentsHash,
    arguments: body.action.arguments ?? {},
    framework: body.framework,
    environment: body.environment,
  };
}

/** What an approval is bound to: this tool with these arguments. */
export function actionDigest({ toolName, argumentsHash }: CheckedAction): string {
  return hash('sha256', JSON.stringify([toolName, argumentsHash]));
}
