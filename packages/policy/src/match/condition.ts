import {
  type ASTNode,
  Environment,
  type ParseError,
  type ParseResult,
  type TypeCheckResult,
} from '@marcbachmann/cel-js';
import {
  type CallQuery,
  type HistoryFacts,
  HistoryView,
  UnknownHistoryError,
} from '../history/history-view.ts';
import { readableOrigins, refuseUnknownOrigins, registerOrigins } from './argument-origins.ts';
import { type CheckedAction, shownBounds } from './checked-action.ts';
import { ConditionError } from './condition-error.ts';
import { refuseCostly } from './cost/condition-cost.ts';
import { evaluationCost } from './cost/evaluation-cost.ts';
import {
  asWritten,
  registerLinearFunctions,
  rememberingLetters,
  withLinearFunctions,
} from './cost/linear-functions.ts';
import { type HistoryReads, historyReads } from './history-reads.ts';
import { nodesOf } from './syntax-tree.ts';

/** Type of the variable `session`: its id, and functions that read its history. */
class ReadableSession {
  readonly id: string;
  readonly #history: HistoryView | undefined;

  constructor(id: string, history: HistoryView | undefined) {
    this.id = id;
    this.#history = history;
  }

  /** History of the session. @throws UnknownHistoryError without one. */
  get history(): HistoryView {
    return required(this.#history);
  }
}

/** Type of the variable `agent`: its id and verified identity, and functions that read its history. */
class ReadableAgent {
  readonly id: string;
  readonly verified: boolean;
  readonly issuer: string;
  readonly subject: string;
  readonly toolName: string;
  readonly #history: HistoryView | undefined;

  constructor({ agentId, actsFor, toolName, identity }: CheckedAction, history: HistoryView | undefined) {
    const verified = identity?.agentVerified === true ? identity : undefined;
    this.id = actsFor ?? agentId;
    this.verified = verified !== undefined;
    this.issuer = verified?.issuer ?? '';
    this.subject = verified?.subject ?? '';
    this.toolName = toolName;
    this.#history = history;
  }

  /** History of the agent. @throws UnknownHistoryError without one. */
  get history(): HistoryView {
    return required(this.#history);
  }
}

function required(history: HistoryView | undefined): HistoryView {
  if (history) return history;
  throw new UnknownHistoryError('the history is not available here');
}

/** Duration as the library evaluates it. */
interface Duration {
  readonly seconds: bigint | number;
  readonly nanos: number;
}

type Given = Readonly<Record<string, unknown>> | ReadonlyMap<string, unknown> | Duration;

/** Functions whose optional arguments are values that earlier calls must share, and a window. */
const sharedFunctions = {
  called: ['bool', (history, query) => history.called(query)],
  started: ['bool', (history, query) => history.started(query)],
  failed: ['bool', (history, query) => history.failed(query)],
  count: ['int', (history, query) => BigInt(history.count(query))],
  successes: ['int', (history, query) => BigInt(history.successes(query))],
} as const satisfies Record<
  string,
  readonly ['bool' | 'int', (history: HistoryView, query: CallQuery) => boolean | bigint]
>;

const tools = { name: 'tools', type: 'string' };
const shared = { name: 'arguments', type: 'map' };
const within = { name: 'within', type: 'google.protobuf.Duration' };

/** Adds the variables `session` and `agent` with the functions of their history to an environment. */
function registerHistory(environment: Environment): Environment {
  const agentFields = { id: 'string', verified: 'bool', issuer: 'string', subject: 'string' };
  environment
    .registerType('Session', { ctor: ReadableSession, fields: { id: 'string' } })
    .registerVariable('session', 'Session')
    .registerType('Agent', { ctor: ReadableAgent, fields: agentFields })
    .registerVariable('agent', 'Agent');
  const register = (
    name: string,
    returnType: string,
    params: readonly (readonly { readonly name: string; readonly type: string }[])[],
    handler: (history: HistoryView, ...given: never[]) => unknown,
  ) => {
    for (const list of params) {
      environment.registerFunction({
        name,
        receiverType: 'Session',
        returnType,
        params: [...list],
        handler: ({ history }: ReadableSession, ...given: never[]) => handler(history, ...given),
        async: false,
      });
    }
  };
  for (const [name, [type, read]] of Object.entries(sharedFunctions)) {
    register(
      name,
      type,
      [[tools], [tools, within], [tools, shared], [tools, shared, within]],
      (history, pattern: string, ...given: Given[]) => read(history, queryOf(pattern, given)),
    );
  }
  const others = { name: 'others', type: 'string' };
  register(
    'calledAfter',
    'bool',
    [
      [tools, others],
      [tools, others, within],
      [tools, others, shared],
      [tools, others, shared, within],
    ],
    (history, pattern: string, other: string, ...given: Given[]) =>
      history.calledAfter(queryOf(pattern, given), { tools: other }),
  );
  const argument = { name: 'argument', type: 'string' };
  register(
    'sum',
    'double',
    [
      [tools, argument],
      [tools, argument, within],
      [tools, argument, shared],
      [tools, argument, shared, within],
    ],
    (history, pattern: string, name: string, ...given: Given[]) => history.sum(queryOf(pattern, given), name),
  );
  register('untrusted', 'bool', [[]], (history) => history.untrusted());
  for (const params of [[], [tools]]) {
    environment.registerFunction({
      name: 'firstUse',
      receiverType: 'Agent',
      returnType: 'bool',
      params,
      handler: ({ history, toolName }: ReadableAgent, pattern?: string) =>
        history.firstUse(pattern ?? toolName),
      async: false,
    });
  }
  return environment;
}

function queryOf(pattern: string, given: readonly Given[]): CallQuery {
  let equal: Readonly<Record<string, unknown>> | undefined;
  let withinMs: number | undefined;
  for (const one of given) {
    if (isDuration(one)) withinMs = Number(one.seconds) * 1000 + one.nanos / 1e6;
    else equal = one instanceof Map ? Object.fromEntries(one) : (one as Readonly<Record<string, unknown>>);
  }
  return { tools: pattern, arguments: equal, withinMs };
}

function isDuration(given: Given): given is Duration {
  return given.constructor.name === 'Duration';
}

/** Maximum number and depth of syntax nodes in one condition (reference profile, "Policy"). */
const limits = { maxAstNodes: 200, maxDepth: 50 };

/**
 * Maximum cost of one condition, in microseconds. Evaluating a condition blocks the process.
 */
export const maxConditionCost = 5000;

/** Arguments of an earlier call have values of several types, as in `{"symbol": args.symbol, "action": "buy"}`. */
const homogeneousAggregateLiterals = false;

const environment = registerHistory(
  registerOrigins(registerLinearFunctions(new Environment({ limits, homogeneousAggregateLiterals }))),
)
  .registerVariable({ name: 'action', schema: { toolName: 'string', argumentsHash: 'string' } })
  .registerVariable('args', 'map')
  .registerVariable('framework', 'string')
  .registerVariable('environment', 'string')
  .registerVariable('principal', 'string')
  .registerVariable('principalVerified', 'bool')
  .registerVariable('subagent', 'string')
  .registerVariable('parentAgentId', 'string');

/** A validated condition that can be evaluated any number of times. */
export interface Condition {
  /** Upper bound of the time of one evaluation in microseconds, for any shown arguments. */
  readonly cost: number;
  /** Part of the history that it reads; undefined for none. */
  readonly history: HistoryReads | undefined;
  /**
   * Returns `true` if the condition holds for an action.
   *
   * @param history - history of the action's session and agent; without it, a condition that reads it throws
   * @throws Error if it cannot be evaluated because it reads a missing argument or origin, or a history that is not
   *   known, or the shown arguments are too large.
   */
  holds(action: CheckedAction, history?: PolicyHistory): boolean;
}

/** History as one policy may read it. */
export interface PolicyHistory extends HistoryFacts {
  /**
   * Time from which the calls that the policy reads are kept, in Unix milliseconds: its last change. Sessions that
   * began earlier have calls that are not known.
   */
  readonly policySinceMs: number;
}

/**
 * Parses a condition in CEL (Common Expression Language), checks its types and limits its cost. It may read `agent.id`,
 * `agent.verified`, `agent.issuer`, `agent.subject`,
 * `session.id`, `action.toolName`, `action.argumentsHash`, `args`, `origins`, `framework`, `environment`,
 * `principal`, `principalVerified`, `subagent` and `parentAgentId`, the nearest agent above; fields that the action omits are empty strings. Without `origins` in the check, a condition that reads
 * them throws. It may read earlier calls with `session.called("approve_*")` and other functions of `session` and
 * `agent`.
 *
 * @param maxCost - maximum cost; pass a higher one for conditions that were accepted before the limit existed
 * @throws {@link ConditionError} with the position and a fix.
 */
export function parseCondition(text: string, maxCost: number = maxConditionCost): Condition {
  const parsed = parse(text);
  const check = withLinearFunctions(parsed.ast, () => parsed.check());
  if (!check.valid) throw refusal(check.error, text);
  if (check.type !== 'bool' && check.type !== 'dyn') {
    throw new ConditionError(`must be a boolean, got ${check.type}`);
  }
  refuseUnknownOrigins(parsed.ast, text);
  refuseMixedLists(parsed.ast, text);
  const history = historyReads(parsed.ast, text);
  refuseCostly(parsed.ast, text);
  const cost = evaluationCost(parsed.ast, shownBounds);
  if (cost > maxCost) {
    throw new ConditionError(
      `costs up to ${cost}, but a condition may cost at most ${maxCost}; compare less inside a comprehension or split the policy in two`,
    );
  }
  dropInput(parsed.ast);
  return {
    cost,
    history,
    holds(action, facts) {
      const result: unknown = withoutStacks(() => rememberingLetters(() => parsed(variables(action, facts))));
      if (typeof result !== 'boolean') throw new Error('the condition did not return a boolean');
      return result;
    },
  };
}

function parse(text: string): ParseResult {
  try {
    return environment.parse(text);
  } catch (error) {
    throw refusal(error as ParseError, text);
  }
}

/** Returns the parser's error on one line: the original message quotes the condition with a marker. */
function refusal(error: TypeCheckResult['error'], text: string): ConditionError {
  const problem = asWritten(error?.summary ?? 'is not a valid CEL expression');
  return new ConditionError(problem, { text, offset: error?.range?.start, cause: error });
}

function variables(action: CheckedAction, facts: PolicyHistory | undefined): Record<string, unknown> {
  const history = facts && new HistoryView(facts, action.agentId, facts.policySinceMs);
  let origins: ReturnType<typeof readableOrigins> | undefined;
  if (!action.arguments) throw new Error('the shown arguments are too large for a condition');
  return {
    agent: new ReadableAgent(action, history),
    session: new ReadableSession(action.sessionId ?? '', history),
    action: { toolName: action.toolName, argumentsHash: action.argumentsHash },
    args: action.arguments,
    // Most conditions do not read them, and reading fails if there are none.
    get origins() {
      origins ??= readableOrigins(action.origins);
      return origins;
    },
    framework: action.framework ?? '',
    environment: action.environment ?? '',
    principal: action.principal ?? '',
    principalVerified: action.identity?.principalVerified === true,
    subagent: action.subagent ?? '',
    parentAgentId: action.parentAgentIds?.[0] ?? '',
  };
}

/**
 * Rejects a list of literals of several types, such as `["a", 1]`: no value that is searched for can equal all of them.
 * Maps may have values of several types, as the arguments of a call do.
 *
 * @throws {@link ConditionError} with the position.
 */
function refuseMixedLists(root: ASTNode, text: string): void {
  for (const node of nodesOf(root)) {
    if (node.op !== 'list') continue;
    const [first, ...others] = node.args.filter(({ op }) => op === 'value').map(({ args }) => typeof args);
    const other = others.find((type) => type !== first);
    if (other === undefined) continue;
    throw new ConditionError('a list must have values of one type', { text, offset: node.start });
  }
}

/**
 * Makes errors of an evaluation cheap: without the input, nodes cannot quote the condition in the error's message. An
 * evaluation may throw an error for each item of a list, and only the first line of the last one is used.
 */
function dropInput(root: ASTNode): void {
  for (const node of nodesOf(root)) Object.defineProperty(node, 'input', { value: '' });
}

/**
 * Runs an evaluation without stack traces in its errors: capturing them takes longer than everything else.
 */
function withoutStacks<Result>(evaluate: () => Result): Result {
  const { stackTraceLimit } = Error;
  Error.stackTraceLimit = 0;
  try {
    return evaluate();
  } finally {
    Error.stackTraceLimit = stackTraceLimit;
  }
}
