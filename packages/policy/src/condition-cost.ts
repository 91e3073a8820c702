import type { ASTNode } from '@marcbachmann/cel-js';
import { ConditionError } from './condition-error.ts';
import { placeIn } from './place-in.ts';

/** Comprehensions: their time multiplies when one stands inside another. */
const comprehensions = new Set(['all', 'exists', 'exists_one', 'map', 'filter']);

/** Functions whose time is the product of two texts' lengths, or that make one value a character. */
const searches = new Set(['contains', 'indexOf', 'lastIndexOf', 'split']);

/** Functions that change a text and make it no longer. */
const letterChanges = new Set(['lowerAscii', 'upperAscii', 'trim']);

/** The longest text that `duration` may read: its time is the cube of the length of one that is none. */
const longestDuration = 30;

/** How many `+` a condition may have: joining texts and lists makes all that is done with them take longer. */
const mostAdditions = 10;

/** How many parts of a text a comprehension may go through. */
const mostParts = 500n;

/** How many syntax nodes a comprehension may ask, times how often it may meet the same shown value. */
const mostRepeatedNodes = 200;

/** What of a condition may hold a costly function. */
interface Place {
  readonly text: string;
  /** The comprehension around it; undefined outside of all. */
  readonly comprehension?: string | undefined;
  /** Its variable; undefined in what it goes through. */
  readonly variable?: string | undefined;
}

/** A call with a receiver, such as `receiver.name(given)`. */
interface Method {
  readonly name: string;
  readonly receiver: ASTNode;
  readonly given: readonly ASTNode[];
}

/**
 * Refuses what can take long whatever its size. Walks the syntax tree of `text`, whose size the parser has bounded.
 *
 * @throws ConditionError with the place.
 */
export function refuseCostly(root: ASTNode, text: string): void {
  refuseIn(root, { text });
  const [first, ...others] = [...nodesOf(root)].filter(({ op }) => op === '+');
  if (first && others.length >= mostAdditions) {
    const problem = `more than ${mostAdditions} + are not available, because they make texts and lists long`;
    throw new ConditionError(problem + placeIn(text, first.start));
  }
}

function refuseIn(node: ASTNode, at: Place): void {
  const method = methodOf(node);
  const [name, given] = node.op === 'call' ? node.args : [method?.name, method?.given];
  const problem = problemOfFunction(name, given?.[0], at) ?? (method && problemOfMethod(method, at));
  if (problem) throw new ConditionError(`${name}() ${problem}${placeIn(at.text, node.start)}`);
  if (method && comprehensions.has(method.name)) {
    const [variable, ...body] = method.given;
    const asked = body.flatMap((step) => [...nodesOf(step)]).length;
    if (asked * timesShown(method.receiver) > mostRepeatedNodes) {
      throw new ConditionError(
        `${name}() asks too much of lists that are joined; ask each by itself${placeIn(at.text, node.start)}`,
      );
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
    return 'is not available, because a regular expression can take for ever; use startsWith, endsWith or contains';
  }
  if (name === 'bind') {
    return 'is not available, because each can double what the one before it made; write the value where it is used';
  }
  if (name === 'duration') {
    const isShort = first?.op === 'value' && String(first.args).length <= longestDuration;
    if (isShort) return undefined;
    return `must be given a text of at most ${longestDuration} characters that stands in the condition, such as duration("1h")`;
  }
  if (name === 'lastIndexOf' && first?.op !== 'value') {
    return 'must be given a text that stands in the condition, because a search from the end is slow for others; use indexOf or contains';
  }
  return name === 'json' && comprehension ? 'must not stand inside a comprehension' : undefined;
}

function problemOfMethod({ name, receiver, given }: Method, at: Place): string | undefined {
  if (comprehensions.has(name) && at.comprehension) return 'must not stand inside another comprehension';
  if (name === 'join' && [...nodesOf(receiver)].some(isComprehension)) {
    return 'must not join what a comprehension made';
  }
  if (!at.comprehension || !searches.has(name)) return undefined;
  if (at.variable !== undefined) {
    const { variable } = at;
    if ([receiver, given[0]].some((side) => side && isPartOf(side, variable))) return undefined;
    return `inside ${at.comprehension}() must look at ${variable} or for it; put it before ${at.comprehension}()`;
  }
  const parts = given[1]?.op === 'value' ? given[1].args : undefined;
  if (typeof parts === 'bigint' && parts >= 0n && parts <= mostParts && name === 'split') return undefined;
  return name === 'split'
    ? `before ${at.comprehension}() needs a limit of ${mostParts} parts at the most: split(separator, ${mostParts})`
    : `must not stand in what ${at.comprehension}() goes through`;
}

/** Whether it is the variable of a comprehension, or a field of it: all that the rounds see is then seen once. */
function isPartOf(node: ASTNode, variable: string): boolean {
  if (node.op === 'id') return node.args === variable;
  if (node.op === '.' || node.op === '[]') return isPartOf(node.args[0], variable);
  const method = methodOf(node);
  return method !== undefined && letterChanges.has(method.name) && isPartOf(method.receiver, variable);
}

/** How often a comprehension may meet the same shown value, because lists are joined or it is listed again. */
function timesShown(range: ASTNode): number {
  const nodes = [...nodesOf(range)];
  const listed = nodes
    .flatMap((node) => (node.op === 'list' ? node.args : []))
    .filter(({ op }) => op !== 'value');
  return 1 + nodes.filter(({ op }) => op === '+').length + listed.length;
}

function isComprehension(node: ASTNode): boolean {
  const method = methodOf(node);
  return method !== undefined && comprehensions.has(method.name);
}

function methodOf(node: ASTNode): Method | undefined {
  if (node.op !== 'rcall') return undefined;
  const [name, receiver, given] = node.args;
  return { name, receiver, given };
}

function* nodesOf(node: ASTNode): Generator<ASTNode> {
  yield node;
  for (const child of childrenOf(node.args)) yield* nodesOf(child);
}

function* childrenOf(part: unknown): Generator<ASTNode> {
  if (Array.isArray(part)) {
    for (const item of part) yield* childrenOf(item);
  } else if (typeof part === 'object' && part !== null && 'op' in part) {
    yield part as ASTNode;
  }
}
