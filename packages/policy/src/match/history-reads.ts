import type { ASTNode } from '@marcbachmann/cel-js';
import { longestWindowMs } from '../history/folded-calls.ts';
import { ConditionError } from './condition-error.ts';
import { childrenOf, isComprehension, methodOf, pathOf } from './syntax-tree.ts';

/** Part of the history that a condition reads: which calls the service must keep for it. */
export interface HistoryReads {
  /** Patterns of tools whose calls in the session it reads; `undefined` stands for the tool of the action. */
  readonly tools: readonly (string | undefined)[];
  /** Names of shown arguments that it compares or sums. */
  readonly argumentNames: readonly string[];
  /** `true` if it reads how calls ended. */
  readonly readsOutcomes: boolean;
  /** `true` if it reads whether the session called a tool that reads text of unknown authors. */
  readonly readsUntrusted: boolean;
  /** Patterns of tools whose first use by the agent it reads; `undefined` stands for the tool of the action. */
  readonly agentTools: readonly (string | undefined)[];
}

/** Maximum number of reads of the history in one condition. */
export const maxHistoryReads = 5;

/** Maximum number of arguments that one function compares. */
const maxArguments = 4;

/** Maximum length of a pattern or of an argument's name. */
const longestName = 200;

const outcomeFunctions = new Set(['called', 'calledAfter', 'failed', 'successes']);
const sessionFunctions = new Set([...outcomeFunctions, 'started', 'count', 'sum', 'untrusted']);
const historyFunction = /\b(?:called|calledAfter|failed|successes|started|count|sum|untrusted|firstUse)\b/;

/** `true` unless a condition certainly reads no history. Cheaper than parsing it. */
export function mayReadHistory(condition: string): boolean {
  return historyFunction.test(condition);
}

/**
 * Returns what a condition reads of the history; undefined for nothing.
 *
 * @throws {@link ConditionError} with the position and a fix for a read that is not bounded, or not known when the
 *   condition is written.
 */
export function historyReads(root: ASTNode, text: string): HistoryReads | undefined {
  const calls = [...historyCalls(root, text, undefined)];
  if (calls.length === 0) return undefined;
  const beyond = calls[maxHistoryReads];
  if (beyond) {
    refuse(
      `reads the history more than ${maxHistoryReads} times; split the policy in two`,
      beyond.node,
      text,
    );
  }
  const ofSession = calls.filter(({ name }) => name !== 'firstUse' && name !== 'untrusted');
  return {
    tools: ofSession.flatMap(({ name, given }) =>
      given.slice(0, name === 'calledAfter' ? 2 : 1).map((one) => patternOf(one, text)),
    ),
    argumentNames: [...new Set(ofSession.flatMap((call) => argumentNamesOf(call, text)))],
    readsOutcomes: calls.some(({ name }) => outcomeFunctions.has(name)),
    readsUntrusted: calls.some(({ name }) => name === 'untrusted'),
    agentTools: calls
      .filter(({ name }) => name === 'firstUse')
      .map(({ given: [one] }) => one && patternOf(one, text)),
  };
}

interface HistoryCall {
  readonly name: string;
  readonly node: ASTNode;
  readonly given: readonly ASTNode[];
}

function* historyCalls(node: ASTNode, text: string, within: string | undefined): Generator<HistoryCall> {
  const method = methodOf(node);
  if (method && (sessionFunctions.has(method.name) || method.name === 'firstUse')) {
    const { name, receiver, given } = method;
    const variable = name === 'firstUse' ? 'agent' : 'session';
    if (receiver.op !== 'id' || receiver.args !== variable) {
      refuse(`${name}() is a function of ${variable}, as in ${exampleOf(name)}`, node, text);
    }
    if (within !== undefined) refuse(`${name}() must not be inside ${within}()`, node, text);
    yield { name, node, given };
  }
  const inner = isComprehension(node) ? method?.name : within;
  for (const child of childrenOf(node.args)) yield* historyCalls(child, text, inner);
}

function exampleOf(name: string): string {
  if (name === 'firstUse') return 'agent.firstUse()';
  if (name === 'untrusted') return 'session.untrusted()';
  if (name === 'sum') return 'session.sum("refund", "amount")';
  if (name === 'calledAfter') return 'session.calledAfter("approve", "refund")';
  return `session.${name}("refund")`;
}

/** Returns a literal pattern; undefined for the tool of the action. */
function patternOf(node: ASTNode, text: string): string | undefined {
  if (pathOf(node)?.join('.') === 'action.toolName') return undefined;
  if (node.op !== 'value' || typeof node.args !== 'string' || !isName(node.args)) {
    refuse(
      `a tool must be a literal pattern of 1 to ${longestName} characters, such as "refund_*", or action.toolName`,
      node,
      text,
    );
  }
  return node.args;
}

function argumentNamesOf({ name, given }: HistoryCall, text: string): string[] {
  const fixed = name === 'sum' || name === 'calledAfter' ? 2 : 1;
  const [first] = name === 'sum' ? given.slice(1) : [];
  const names: string[] = [];
  if (first) names.push(nameOf(first, 'the argument to sum', text));
  for (const one of given.slice(fixed)) {
    if (one.op === 'call' && one.args[0] === 'duration') requireWindow(one, text);
    else names.push(...keysOf(one, text));
  }
  return names;
}

function keysOf(node: ASTNode, text: string): string[] {
  if (node.op !== 'map') {
    refuse(
      'a window must be a literal such as duration("1h"), and arguments a literal such as {"orderId": args.orderId}',
      node,
      text,
    );
  }
  const entries = node.args as unknown as readonly (readonly [ASTNode, ASTNode])[];
  if (entries.length === 0 || entries.length > maxArguments) {
    refuse(`compares 1 to ${maxArguments} arguments, got ${entries.length}`, node, text);
  }
  return entries.map(([key]) => nameOf(key, 'the name of an argument', text));
}

function nameOf(node: ASTNode, subject: string, text: string): string {
  if (node.op === 'value' && typeof node.args === 'string' && isName(node.args)) return node.args;
  return refuse(`${subject} must be a literal text of 1 to ${longestName} characters`, node, text);
}

function isName(name: string): boolean {
  return name !== '' && name.length <= longestName;
}

/** Units of durations in milliseconds. */
const unitMs: Readonly<Record<string, number>> = {
  h: 3_600_000,
  m: 60_000,
  s: 1000,
  ms: 1,
  us: 0.001,
  µs: 0.001,
  ns: 0.000_001,
};

function requireWindow(node: ASTNode, text: string): void {
  const [, given] = node.args as unknown as readonly [string, readonly ASTNode[]];
  const literal = given[0]?.op === 'value' ? String(given[0].args) : '';
  let lengthMs = literal.startsWith('-') ? Number.NaN : 0;
  for (const [, amount, unit] of literal.matchAll(/([\d.]+)([a-zµ]+)/g)) {
    lengthMs += Number(amount) * (unitMs[unit as string] ?? Number.NaN);
  }
  if (lengthMs >= 1000 && lengthMs <= longestWindowMs) return;
  refuse(`a window must be from 1 second to 24 hours, got ${JSON.stringify(literal)}`, node, text);
}

function refuse(problem: string, node: ASTNode, text: string): never {
  throw new ConditionError(problem, { text, offset: node.start });
}
