import type { PolicyCheck } from '@actlog/protocol';
import { type ASTNode, Environment, type ParseResult } from '@marcbachmann/cel-js';
import { type ApiError, invalid } from '../service/api-error.ts';

/** Functions that walk a list: their time multiplies when one stands inside another. */
const comprehensions = ['all', 'exists', 'exists_one', 'map', 'filter'];

/** What a condition may read beside `args`, `framework` and `environment`. */
const objects = {
  agent: { id: 'string' },
  session: { id: 'string' },
  action: { toolName: 'string', argumentsHash: 'string' },
};

const environment = new Environment({ limits: { maxAstNodes: 200, maxDepth: 50 } }).registerVariable(
  'args',
  'map',
);
for (const [name, schema] of Object.entries(objects)) environment.registerVariable({ name, schema });
for (const name of ['framework', 'environment']) environment.registerVariable(name, 'string');

/** Conditions that were read, by their text. A test has few of them. */
const read = new Map<string, ParseResult>();

/**
 * Refuses a CEL condition (https://cel.dev) that the reference server would refuse.
 *
 * @throws ApiError `VALIDATION_ERROR` that names the field and the problem.
 */
export function refuseBadCondition(text: string): void {
  const { ast, check } = parsed(text);
  const { valid, type, error } = check();
  if (!valid) throw refusal(error?.message ?? 'it is no CEL expression');
  if (type !== 'bool' && type !== 'dyn')
    throw refusal(`it must be true or false, and is of the type ${type}`);
  refuseCostly(ast, false);
}

/** Whether a condition holds for an action. @throws Error When that cannot be told. */
export function conditionHolds(
  text: string,
  { agentId, sessionId = '', action, ...rest }: PolicyCheck,
): boolean {
  const holds: unknown = parsed(text)({
    agent: { id: agentId },
    session: { id: sessionId },
    action: { toolName: action.toolName, argumentsHash: action.argumentsHash },
    args: action.arguments ?? {},
    framework: rest.framework ?? '',
    environment: rest.environment ?? '',
  });
  if (typeof holds === 'boolean') return holds;
  throw new Error('the condition is neither true nor false');
}

function parsed(text: string): ParseResult {
  const known = read.get(text);
  if (known) return known;
  try {
    const result = environment.parse(text);
    read.set(text, result);
    return result;
  } catch (error) {
    throw refusal((error as Error).message);
  }
}

/** Walks the syntax tree, whose size the parser has bounded. */
function refuseCostly({ op, args }: ASTNode, isWithinOne: boolean): void {
  const name = op === 'call' || op === 'rcall' ? String((args as unknown[])[0]) : '';
  if (name === 'matches') throw refusal('matches() is not available; use startsWith, endsWith or contains');
  const isOne = op === 'rcall' && comprehensions.includes(name);
  if (isOne && isWithinOne) throw refusal(`${name}() must not stand inside another comprehension`);
  for (const node of nodesIn(args)) refuseCostly(node, isOne || isWithinOne);
}

function nodesIn(part: unknown): ASTNode[] {
  if (Array.isArray(part)) return part.flatMap(nodesIn);
  return typeof part === 'object' && part !== null && 'op' in part ? [part as ASTNode] : [];
}

function refusal(problem: string): ApiError {
  return invalid('condition', 'invalid_condition', `cannot be taken: ${problem}`);
}
