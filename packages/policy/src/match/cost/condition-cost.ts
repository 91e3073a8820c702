import type { PolicyCreate } from '@actlog/protocol';
import type { ASTNode } from '@marcbachmann/cel-js';
import { ConditionError } from '../condition-error.ts';
import {
  childrenOf,
  comprehensions,
  isComprehension,
  type Method,
  methodOf,
  nodesOf,
} from '../syntax-tree.ts';

/**
 * Costs of the parts of a policy, in microseconds like the cost of a condition. They cover the worst time of a check
 * and, for patterns and rates, also the cost of keeping them ready.
 */
const costs = {
  policy: 2,
  pattern: 5,
  patternCharacter: 1 / 10,
  messageCharacter: 1 / 100,
  rate: 2500,
  schedule: 10,
} as const;

/** Cost of keeping and reading the history for a condition that reads it, in microseconds. */
export const historyCost = 2500;

/** Default limit on the combined cost of all active policies of a tenant. */
export const defaultPolicyBudget = 500_000;

/** Returns the worst-case cost of a policy per check in microseconds, without its condition. */
export function costBesideCondition({
  match = {},
  message,
  rate,
  schedule,
}: Pick<PolicyCreate, 'match' | 'message' | 'rate' | 'schedule'>): number {
  const patterns = Object.values(match).flatMap((list) => list ?? []);
  const characters = patterns.reduce((sum, pattern) => sum + pattern.length, 0);
  return Math.ceil(
    costs.policy +
      patterns.length * costs.pattern +
      characters * costs.patternCharacter +
      (message?.length ?? 0) * costs.messageCharacter +
      (rate ? costs.rate : 0) +
      (schedule ? costs.schedule : 0),
  );
}

/** Costs that determine if a policy may be created or changed. */
export interface PolicyBudget {
  /** Cost of the policy. */
  readonly cost: number;
  /** Cost of the policy before the change; omitted for a new policy. */
  readonly former?: number | undefined;
  /** Cost of all other active policies of the tenant. */
  readonly others: number;
  /** Limit on the combined cost. */
  readonly budget: number;
}

/**
 * Returns the problem and the fix if a policy exceeds the budget, otherwise undefined. A change that does not raise the
 * cost of a policy is always accepted, because policies of an earlier release, or of a larger budget, may exceed it.
 */
export function budgetProblem({ cost, former = 0, others, budget }: PolicyBudget): string | undefined {
  if (cost <= former || others + cost <= budget) return undefined;
  return `The policy costs ${cost} and the other active policies cost ${others}, which exceeds the tenant's budget of ${budget}. Shorten its condition or its patterns, archive another policy, or ask the operator of the service to raise the quota policyCost.`;
}

/**
 * Functions that take time proportional to the product of two text lengths, or that return one value per
 * character.
 */
const searches = new Set(['contains', 'indexOf', 'lastIndexOf', 'split']);

/** Functions that change the case or whitespace of a string without making it longer. */
const letterChanges = new Set(['lowerAscii', 'upperAscii', 'trim']);

/** Maximum length of a `duration` literal: invalid text takes time cubic in its length. */
const longestDuration = 30;

/** Maximum number of `+` in a condition: joined strings and lists make everything applied to them slower. */
const mostAdditions = 10;

/** Maximum number of parts of a split text that a comprehension may iterate over. */
const mostParts = 500n;

/**
 * Maximum number of syntax nodes in a comprehension's body, multiplied by the repetitions of a shown value
 * in its range.
 */
const mostRepeatedNodes = 200;

/** Position in a condition at which a costly function may occur. */
interface Place {
  readonly text: string;
  /** Enclosing comprehension; undefined outside of one. */
  readonly comprehension?: string | undefined;
  /** Variable of the comprehension; undefined within its range. */
  readonly variable?: string | undefined;
}

/**
 * Rejects functions that can take long regardless of the input size. Walks the syntax tree of `text`, whose size the
 * parser has limited.
 *
 * @throws {@link ConditionError} with the position.
 */
export function refuseCostly(root: ASTNode, text: string): void {
  refuseIn(root, { text });
  const [first, ...others] = [...nodesOf(root)].filter(({ op }) => op === '+');
  if (first && others.length >= mostAdditions) {
    const problem = `has more than ${mostAdditions} + operators, which make texts and lists too long; split the policy in two`;
    throw new ConditionError(problem, { text, offset: first.start });
  }
}

function refuseIn(node: ASTNode, at: Place): void {
  const method = methodOf(node);
  const [name, given] = node.op === 'call' ? node.args : [method?.name, method?.given];
  const problem = problemOfFunction(name, given?.[0], at) ?? (method && problemOfMethod(method, at));
  if (problem) throw new ConditionError(`${name}() ${problem}`, { text: at.text, offset: node.start });
  if (method && comprehensions.has(method.name)) {
    const [variable, ...body] = method.given;
    const nodeCount = body.flatMap((step) => [...nodesOf(step)]).length;
    if (nodeCount * timesShown(method.receiver) > mostRepeatedNodes) {
      throw new ConditionError(`${name}() is too complex for joined lists; check each list separately`, {
        text: at.text,
        offset: node.start,
      });
    }
    const within = { ...at, comprehension: method.name };
    refuseIn(method.receiver, within);
    for (const step of body) refuseIn(step, { ...within, variable: String(variable?.args) });
  } else {
    for (const child of childrenOf(node.args)) refuseIn(child, at);
  }
}

function problemOfFunction(
  name: string | undefined,
  first: ASTNode | undefined,
  { comprehension }: Place,
): string | undefined {
  if (name === 'matches') {
    return 'is not available because a regular expression can take unbounded time; use startsWith, endsWith or contains';
  }
  if (name === 'bind') {
    return 'is not available because each can double the previous result; write the value where it is used';
  }
  if (name === 'duration') {
    const isShort = first?.op === 'value' && String(first.args).length <= longestDuration;
    if (isShort) return undefined;
    return `must be given a literal of at most ${longestDuration} characters, such as duration("1h")`;
  }
  if (name === 'lastIndexOf' && first?.op !== 'value') {
    return 'must be given a literal because other searches from the end are slow; use indexOf or contains';
  }
  return name === 'json' && comprehension ? 'must not be inside a comprehension' : undefined;
}

function problemOfMethod({ name, receiver, given }: Method, at: Place): string | undefined {
  if (comprehensions.has(name) && at.comprehension) return 'must not be inside another comprehension';
  if (name === 'join' && [...nodesOf(receiver)].some(isComprehension)) {
    return 'must not join the result of a comprehension';
  }
  if (!at.comprehension || !searches.has(name)) return undefined;
  if (at.variable !== undefined) {
    const { variable } = at;
    if ([receiver, given[0]].some((side) => side && isPartOf(side, variable))) return undefined;
    return `inside ${at.comprehension}() must search in or for ${variable}; move it before ${at.comprehension}()`;
  }
  const parts = given[1]?.op === 'value' ? given[1].args : undefined;
  if (typeof parts === 'bigint' && parts >= 0n && parts <= mostParts && name === 'split') return undefined;
  return name === 'split'
    ? `before ${at.comprehension}() needs a limit of at most ${mostParts} parts: split(separator, ${mostParts})`
    : `must not be in the range of ${at.comprehension}()`;
}

/**
 * `true` for the variable of a comprehension or a field of it, so that all rounds together read each part
 * only once.
 */
function isPartOf(node: ASTNode, variable: string): boolean {
  if (node.op === 'id') return node.args === variable;
  if (node.op === '.' || node.op === '[]') return isPartOf(node.args[0], variable);
  const method = methodOf(node);
  return method !== undefined && letterChanges.has(method.name) && isPartOf(method.receiver, variable);
}

/**
 * Returns how often a comprehension may see the same shown value because lists are joined or a value is
 * listed again.
 */
function timesShown(range: ASTNode): number {
  const nodes = [...nodesOf(range)];
  const listed = nodes
    .flatMap((node) => (node.op === 'list' ? node.args : []))
    .filter(({ op }) => op !== 'value');
  return 1 + nodes.filter(({ op }) => op === '+').length + listed.length;
}
