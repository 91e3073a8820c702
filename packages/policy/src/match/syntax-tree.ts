import type { ASTNode } from '@marcbachmann/cel-js';

/** Macros that iterate over a list or the keys of a map. */
export const comprehensions: ReadonlySet<string> = new Set(['all', 'exists', 'exists_one', 'map', 'filter']);

/** A call with a receiver, such as `receiver.name(given)`. */
export interface Method {
  readonly name: string;
  readonly receiver: ASTNode;
  readonly given: readonly ASTNode[];
}

/** Returns the parts of a call with a receiver; undefined for any other node. */
export function methodOf(node: ASTNode): Method | undefined {
  if (node.op !== 'rcall') return undefined;
  const [name, receiver, given] = node.args;
  return { name, receiver, given };
}

/** Returns `true` for a call of a macro that iterates over a list or the keys of a map. */
export function isComprehension(node: ASTNode): boolean {
  const method = methodOf(node);
  return method !== undefined && comprehensions.has(method.name);
}

/**
 * Returns `true` for a case change of a path, such as `args.text.lowerAscii()`. Its text is the same each time, so an
 * evaluation computes it once.
 */
export function isRememberedChange(node: ASTNode): boolean {
  const method = methodOf(node);
  return (
    method !== undefined &&
    (method.name === 'lowerAscii' || method.name === 'upperAscii') &&
    isPath(method.receiver)
  );
}

function isPath(node: ASTNode): boolean {
  return pathOf(node) !== undefined;
}

/** Returns the names of a path, such as `args.to`; undefined for any other node. */
export function pathOf(node: ASTNode): readonly string[] | undefined {
  if (node.op === 'id') return [node.args];
  if (node.op !== '.') return undefined;
  const [from, name] = node.args;
  const path = pathOf(from);
  return path && [...path, name];
}

/** Returns the operands of a chain of `+`, in order. */
export function joinedNodes(node: ASTNode): readonly ASTNode[] {
  return node.op === '+' ? node.args.flatMap(joinedNodes) : [node];
}

/** Yields a node and all its descendants. */
export function* nodesOf(node: ASTNode): Generator<ASTNode> {
  yield node;
  for (const child of childrenOf(node.args)) yield* nodesOf(child);
}

/** Yields the direct children of a node, given its `args`. */
export function* childrenOf(part: unknown): Generator<ASTNode> {
  if (Array.isArray(part)) {
    for (const item of part) yield* childrenOf(item);
  } else if (typeof part === 'object' && part !== null && 'op' in part) {
    yield part as ASTNode;
  }
}
