import { isRegExp } from 'node:util/types';
import type { ResponseStatusMapping, ToolOutcome } from '@actlog/tool-call';
import { checkGuard, type GuardOptions } from '../guard/guard-options.ts';
import { checkType } from '../lib/option-checks.ts';
import type { OriginsOptions } from '../origins/origins-options.ts';
import type { AdapterIdentity, Recorder } from '../recorder.ts';
import type { HookedCall } from './hooked-calls.ts';

/** Names of the options that all adapters share. */
const sharedNames = Object.keys({
  recorder: true,
  guard: true,
  origins: true,
  agentId: true,
  sessionId: true,
  toolName: true,
  responseStatus: true,
  include: true,
  exclude: true,
} satisfies Record<keyof AdapterOptions, true>) as (keyof AdapterOptions)[];

/** Options that never are functions. */
const neverFunctions: ReadonlySet<string> = new Set(['recorder', 'guard', 'origins', 'agentId']);

/** Properties of tools, in all frameworks, by which a tool that is named like an option is recognized. */
const toolProperties = [
  'execute',
  'run',
  'invoke',
  'stream',
  'function',
  'inputSchema',
  'input_schema',
  'parameters',
  'toolSpec',
  'type',
];

/** Terms of an adapter for its options. */
export interface OptionTerms {
  /** Code that shows where the options belong, such as `middleware: [actlog({ guard })]`. */
  readonly form?: string | undefined;
  /** Names of options that only this adapter has. */
  readonly optionNames?: readonly string[] | undefined;
}

/**
 * Type of the first argument of functions that take their options second: none of the options that all adapters share
 * can be in it.
 */
export type WithoutOptions<Allowed extends keyof AdapterOptions = never> = {
  readonly [Name in Exclude<keyof AdapterOptions, Allowed>]?: undefined;
};

/** Type of tools by name, in which whatever is named like an option must be a tool. */
export type ToolsOnly<Tools> = {
  readonly [Name in keyof Tools & keyof AdapterOptions]?:
    | { readonly inputSchema: unknown }
    | { readonly parameters: unknown }
    | { readonly type: string };
};

/** Type of the options of functions that only record, where a guard would guard nothing. */
export type RecordOnlyOptions<Options extends AdapterOptions = AdapterOptions> = Omit<Options, 'guard'> & {
  readonly guard?: undefined;
};

/**
 * Rejects invalid options. In TypeScript the types prevent them. In JavaScript a mistake would show on each call or
 * never: a misspelled `guard`, or tools passed in place of the options, would switch the guard off.
 *
 * @throws TypeError when an option has the wrong type or an unknown name; the guard checks its options when it is
 *   created
 */
export function checkAdapterOptions(options: AdapterOptions, terms: OptionTerms = {}): void {
  checkType('object', 'options', options, 'pass an object such as { agentId: "support" }');
  checkNames(options, terms);
  const { recorder, sessionId } = options;
  if (recorder !== undefined && typeof recorder?.forAdapter !== 'function') {
    throw new TypeError(
      'recorder must be a Recorder of @actlog/recorder: pass one, or omit it to use the shared recorder of this process.',
    );
  }
  checkGuard(options.guard);
  checkType('string', 'agentId', options.agentId);
  if (typeof sessionId !== 'function') {
    checkType('string', 'sessionId', sessionId, 'pass an id, a function that returns one, or omit it');
  }
  for (const name of ['toolName', 'responseStatus'] as const) checkType('function', name, options[name]);
  for (const name of ['include', 'exclude'] as const) checkFilter(name, options[name]);
}

/**
 * Rejects the first argument of a function that takes its options second, if it carries options: they would have no
 * effect, and a guard among them would guard nothing.
 *
 * @param given - the first argument: an object, or a list of objects
 * @param form - code that shows where the options belong, such as `actlog(tools, { guard })`
 * @param isOwn - returns `true` for a property that belongs to the argument itself. Default: `true` for tools
 * @throws TypeError when an option is in it
 */
export function refuseOptions(
  given: unknown,
  form: string,
  isOwn: (value: unknown, name: keyof AdapterOptions) => boolean = isTool,
): void {
  if (Array.isArray(given)) {
    for (const entry of given) if (!isTool(entry)) refuseOptions(entry, form, isOwn);
  } else if (typeof given === 'object' && given !== null) {
    for (const name of sharedNames) {
      const value: unknown = Object.hasOwn(given, name) ? given[name as keyof typeof given] : undefined;
      if (value === undefined || isOwn(value, name)) continue;
      throw new TypeError(`${name} has no effect in the first argument: pass options second, ${form}.`);
    }
  }
}

/**
 * Rejects options among functions by the names of their tools. A function that could also be an option, such as
 * `sessionId`, counts as an option unless options are passed as well.
 *
 * @throws TypeError when an option is among the functions
 */
export function refuseOptionsOfFunctions(functions: unknown, options: unknown, form: string): void {
  const isFunction = (value: unknown, name: keyof AdapterOptions) =>
    typeof value === 'function' && (options !== undefined || neverFunctions.has(name));
  refuseOptions(functions, `${form}; if it is the function of a tool, pass {} as options`, isFunction);
}

/**
 * Rejects a guard in the options of a function that only records.
 *
 * @param form - code that shows where the guard belongs
 * @throws TypeError when there is a guard
 */
export function refuseGuard(options: object | undefined, form: string): void {
  if ((options as AdapterOptions | undefined)?.guard === undefined) return;
  throw new TypeError(
    `guard has no effect here, because this only records: pass it where calls run, ${form}.`,
  );
}

/** Returns `true` for a tool of any framework. */
function isTool(value: unknown): boolean {
  if (typeof value !== 'object' || value === null || Array.isArray(value)) return false;
  return toolProperties.some((property) => property in value) && !('mode' in value || 'forAdapter' in value);
}

function checkNames(options: AdapterOptions, { form, optionNames = [] }: OptionTerms): void {
  const where = form === undefined ? '' : `, ${form}`;
  if ('forAdapter' in options) {
    throw new TypeError(`options must be an object, got a Recorder: pass { recorder }${where}.`);
  }
  const names: readonly string[] = [...sharedNames, ...optionNames];
  const given = Object.keys(options).filter((name) => options[name as keyof AdapterOptions] !== undefined);
  const unknown = given.find((name) => !names.includes(name));
  if (unknown !== undefined) {
    throw new TypeError(
      `${JSON.stringify(unknown)} is not an option: pass some of ${names.join(', ')}${where}.`,
    );
  }
  if (given.length === 0 && !isPlain(options) && !names.some((name) => name in options)) {
    const type = options.constructor?.name || 'object';
    throw new TypeError(`options must be an object with options, got an instance of ${type}${where}.`);
  }
}

/** Returns `true` for an object literal, of any realm. */
function isPlain(value: object): boolean {
  const prototype = Object.getPrototypeOf(value);
  return prototype === null || Object.getPrototypeOf(prototype) === null;
}

function checkFilter(name: string, filter: unknown): void {
  if (filter === undefined || typeof filter === 'function') return;
  if (Array.isArray(filter) && filter.every((entry) => typeof entry === 'string' || isRegExp(entry))) {
    // Policies have such patterns. Here it would select nothing, so that nothing is guarded.
    const pattern = filter.find((entry) => typeof entry === 'string' && entry.includes('*'));
    if (pattern === undefined) return;
    throw new TypeError(
      `${name} has ${JSON.stringify(pattern)}, which no tool is named: pass a regular expression for a pattern, such as /^read_/.`,
    );
  }
  throw new TypeError(
    `${name} must be a list of names and patterns, such as ["search", /^read_/], or a function of the name.`,
  );
}

/** Properties of an adapter and its framework. */
export interface AdapterTraits extends AdapterIdentity, OptionTerms {
  /**
   * Returns the status of a call from the framework's outcome: `null` if the call has not finished, `undefined` to use
   * the recorder's table. Default: the table.
   */
  readonly statusOf?: ((outcome: ToolOutcome, call: HookedCall) => number | null | undefined) | undefined;
  /**
   * Returns the real outcome of a call if the hook cannot see it; `undefined` if another call ran in its place, so that
   * it is not recorded and `responseStatus` is not called. Default: the outcome from the hook.
   */
  readonly outcomeOf?: ((told: ToolOutcome, call: HookedCall) => ToolOutcome | undefined) | undefined;
  /** Unwraps the error thrown by the tool from the framework's wrappers. Default: the error itself. */
  readonly thrownByTool?: ((error: unknown) => unknown) | undefined;
  /**
   * Returns what the model sees of a result, for argument origins, where the framework wraps it. Default: the result
   * itself.
   */
  readonly resultOf?: ((result: unknown) => unknown) | undefined;
  /**
   * `true` if the framework's hook can wait for a person's decision and notices an abort meanwhile. Otherwise a call
   * that needs approval is denied at once. Default true.
   */
  readonly canHold?: boolean | undefined;
  /**
   * Tools with which the framework itself ends a run or returns a typed result, for example for structured output. They
   * have no effect outside the run, so they are neither recorded nor guarded unless `include` lists the exact name.
   * Default: none.
   */
  readonly internalTools?: readonly string[] | undefined;
}

/** Selects tools by name, by pattern or with a function. */
export type ToolFilter = readonly (string | RegExp)[] | ((toolName: string) => boolean);

/**
 * A session id, or a function that returns it for each call. With `undefined` or an empty string, the adapter chooses.
 */
export type SessionSource = string | (() => string | undefined);

/**
 * Options of every adapter. All are optional. If a function throws or returns an invalid value, the error is reported
 * to the recorder's `onError` and the function is ignored: the agent is unaffected.
 */
export interface AdapterOptions {
  /** Recorder of the events. Default: the shared recorder of this process, configured from the environment. */
  readonly recorder?: Recorder | undefined;
  /**
   * Guard that checks calls before they run. Missing options are taken from the recorder's guard. Default: the
   * recorder's guard.
   */
  readonly guard?: GuardOptions | undefined;
  /**
   * Finds out where the arguments of calls through this adapter came from, as the recorder's option `origins` does.
   * Default: as the recorder does.
   */
  readonly origins?: boolean | OriginsOptions | undefined;
  /** Id of the agent. Default: the framework's name of the agent if it has one, otherwise the recorder's. */
  readonly agentId?: string | undefined;
  /** Id of the session. Default: the framework's thread, session or run id. */
  readonly sessionId?: SessionSource | undefined;
  /**
   * Renames a tool in events and for policies, for example to prefix its server. `include` and `exclude` use the name
   * that the model sees.
   */
  readonly toolName?: ((toolName: string) => string) | undefined;
  /** Returns the status of calls. For `undefined`, the framework's outcomes and the recorder's table apply. */
  readonly responseStatus?: ResponseStatusMapping | undefined;
  /** Records and guards only these tools. Default: all. */
  readonly include?: ToolFilter | undefined;
  /** Tools that are neither recorded nor guarded. */
  readonly exclude?: ToolFilter | undefined;
}
