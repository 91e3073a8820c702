import type { ASTNode } from '@marcbachmann/cel-js';
import { nodesOf } from './syntax-tree.ts';

/**
 * Makes errors of an evaluation cheap: without the input, nodes cannot quote the condition in the error's message. An
 * evaluation may throw an error for each item of a list, and only the first line of the last one is used.
 */
export function dropInput(root: ASTNode): void {
  for (const node of nodesOf(root)) Object.defineProperty(node, 'input', { value: '' });
}

/**
 * Runs an evaluation without stack traces in its errors: capturing them takes longer than everything else.
 */
export function withoutStacks<Result>(evaluate: () => Result): Result {
  const { stackTraceLimit } = Error;
  Error.stackTraceLimit = 0;
  try {
    return evaluate();
  } finally {
    Error.stackTraceLimit = stackTraceLimit;
  }
}
