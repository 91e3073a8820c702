import { type ASTNode, Environment, type ParseResult } from '@marcbachmann/cel-js';
import type { CheckedAction } from './checked-action.ts';

/** Syntax nodes of one condition (reference profile, "Policy"). */
const maxNodes = 200;

/** What shown arguments may hold for a condition to read them; it bounds the time of the worst condition. */
const maxArgumentValues = 500;
const maxArgumentCharacters = 32 * 1024;

/** Comprehensions: their time multiplies when one stands inside another. */
const comprehensions = new Set(['all', 'exists', 'exists_one', 'map', 'filter']);

const environment = new Environment({ limits: { maxAstNodes: maxNodes, maxDepth: 50 } })
  .registerVariable({ name: 'agent', schema: { id: 'string' } })
  .registerVariable({ name: 'session', schema: { id: 'string' } })
  .registerVariable({ name: 'action', schema: { toolName: 'string', argumentsHash: 'string' } })
  .registerVariable('args', 'map')
  .registerVariable('framework', 'string')
  .registerVariable('environment', 'string');

/** A condition that was checked and can be asked. */
export interface Condition {
  /** Whether it holds. @throws Error when it cannot be told, as when it reads an argument that is not there. */
  holds(action: CheckedAction): boolean;
}

/** A condition that cannot be taken; the message points at the place. */
export class ConditionError extends Error {
  override readonly name = 'ConditionError';
}

/**
 * Parses, type-checks and bounds a CEL condition (https://cel.dev). It may read `agent.id`, `session.id`,
 * `action.toolName`, `action.argumentsHash`, `args`, `framework` and `environment`.
 *
 * @throws ConditionError with the place and the way out.
 */
export function parseCondition(text: string): Condition {
  const parsed = parse(text);
  const check = parsed.check();
  if (!check.valid) throw new ConditionError(check.error?.message ?? 'is not a valid CEL expression');
  if (check.type !== 'bool' && check.type !== 'dyn') {
    throw new ConditionError(`must be true or false, and this is of the type ${check.type}`);
  }
  refuseCostly(parsed.ast, text, false);
  return {
    holds(action) {
      const result: unknown = parsed(variables(action));
      if (typeof result !== 'boolean') throw new Error('the condition is neither true nor false');
      return result;
    },
  };
}

function parse(text: string): ParseResult {
  try {
    return environment.parse(text);
  } catch (error) {
    throw new ConditionError((error as Error).message, { cause: error });
  }
}

function variables(action: CheckedAction): Record<string, unknown> {
  boundArguments(action.arguments);
  return {
    agent: { id: action.agentId },
    session: { id: action.sessionId ?? '' },
    action: { toolName: action.toolName, argumentsHash: action.argumentsHash },
    args: action.arguments,
    framework: action.framework ?? '',
    environment: action.environment ?? '',
  };
}

function boundArguments(shown: unknown): void {
  let values = 0;
  let characters = 0;
  const left: unknown[] = [shown];
  while (left.length > 0) {
    const value = left.pop();
    values += 1;
    if (typeof value === 'string') characters += value.length;
    if (values > maxArgumentValues || characters > maxArgumentCharacters) {
      throw new Error('the shown arguments are too large for a condition');
    }
    if (typeof value === 'object' && value !== null) left.push(...Object.values(value));
  }
}

/** Walks the syntax tree, whose size the parser has bounded. */
function refuseCostly(node: ASTNode, text: string, isInComprehension: boolean): void {
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
