import { hash } from 'node:crypto';
import type { CheckedAction } from '@actlog/policy';

/** What an approval is bound to: this tool with these arguments. */
export function actionDigest({ toolName, argumentsHash }: CheckedAction): string {
  return hash('sha256', JSON.stringify([toolName, argumentsHash]));
}
