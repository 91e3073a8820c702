import { hash } from 'node:crypto';
import type { CheckedAction } from '@actlog/policy';

/** What an approval of an agent's action is bound to: this tool with these arguments, in this session. */
export function actionDigest({ sessionId, toolName, argumentsHash }: CheckedAction): string {
  return hash('sha256', JSON.stringify([sessionId ?? null, toolName, argumentsHash]));
}
