import type { ASTNode } from '@marcbachmann/cel-js';
import { ConditionError } from './condition-error.ts';

/** Comprehensions: their time multiplies when one stands inside another. */
const comprehensions = new Set(['all', 'exists', 'exists_one', 'map', 'filter']);

/**
 * Refuses what can take long whatever its size. Walks the syntax tree of `text`, whose size the parser has bounded.
 *
 * @throws ConditionError with the place.
 */
export function refuseCostly(node: ASTNode, text: string, isInComprehension = false): void {
  const name = node.op === 'call' || node.op === 'rcall' ? node.args[0] : undefined;
  if (name === 'matches') {
    throw new ConditionError(
      `matches() is not available, because a regular expression can take for ever; use startsWith, endsWith or contains${place(text, node)}`,
    );
  }
  const isComprehension = node.op === 'rcall' && comprehensions.has(node.args[0]);
  if (isComprehension && isInComprehension) {
    throw new ConditionError(`${name}() must not stand inside another comprehension${place(text, node)}`);
  }
  for (const child of childrenOf(node.args)) {
    refuseCostly(child, text, isInComprehension || isComprehension);
  }
}

function* childrenOf(part: unknown): Generator<ASTNode> {
  if (Array.isArray(part)) {
    for (const item of part) yield* childrenOf(item);
  } else if (typeof part === 'object' && part !== null && 'op' in part) {
    yield part as ASTNode;
  }
}

function place(text: string, { start }: ASTNode): string {
  const before = text.slice(0, start).split('\n');
  return ` (line ${before.length}, column ${(before.at(-1) as string).length + 1})`;
}
