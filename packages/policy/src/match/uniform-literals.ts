import type { ASTNode } from '@marcbachmann/cel-js';
import { ConditionError } from './condition-error.ts';
import { nodesOf } from './syntax-tree.ts';

/**
 * Rejects a list of literals of several types, such as `["a", 1]`: no value that is searched for can equal all of them.
 * Maps may have values of several types, as the arguments of a call do.
 *
 * @throws {@link ConditionError} with the position.
 */
export function refuseMixedLists(root: ASTNode, text: string): void {
  for (const node of nodesOf(root)) {
    if (node.op !== 'list') continue;
    const [first, ...others] = node.args.filter(({ op }) => op === 'value').map(({ args }) => typeof args);
    const other = others.find((type) => type !== first);
    if (other === undefined) continue;
    throw new ConditionError('a list must have values of one type', { text, offset: node.start });
  }
}
