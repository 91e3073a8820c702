import type { Environment } from '@marcbachmann/cel-js';
import { type CallQuery, type HistoryView, UnknownHistoryError } from '../history/history-view.ts';

/** Type of the variable `session`: its id, and functions that read its history. */
export class ReadableSession {
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

/** Type of the variable `agent`: its id, and functions that read its history. */
export class ReadableAgent {
  readonly id: string;
  readonly toolName: string;
  readonly #history: HistoryView | undefined;

  constructor(id: string, toolName: string, history: HistoryView | undefined) {
    this.id = id;
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
export function registerHistory(environment: Environment): Environment {
  const fields = { id: 'string' };
  environment
    .registerType('Session', { ctor: ReadableSession, fields })
    .registerVariable('session', 'Session')
    .registerType('Agent', { ctor: ReadableAgent, fields })
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
