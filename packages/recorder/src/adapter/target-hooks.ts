import type { RunCall } from '../events/tool-call.ts';
import { processWide, processWidePerOwner } from '../lib/process-wide.ts';
import type { AdapterCalls } from './adapter-calls.ts';
import type { AdapterOptions } from './adapter-option-checks.ts';
import { BegunCall, type HookedCall } from './hooked-calls.ts';
import type { RecorderTerms } from './mcp/server-call.ts';

/** Coverage of everything of a framework in this process, usually by a recorder. All copies of an adapter share it. */
export class ProcessCoverage<Installed extends object = AdapterCalls> {
  /** All that are installed, oldest first. */
  readonly #installed: () => Set<Installed>;

  /** @param name - name for all copies of the adapter, such as `@actlog/langchain/installed` */
  constructor(name: string) {
    this.#installed = processWide(name, () => new Set());
  }

  /** The active one, which was installed last; undefined if there is none. */
  get current(): Installed | undefined {
    return [...this.#installed()].at(-1);
  }

  /**
   * Covers the process.
   *
   * @returns function that ends the coverage. What was installed before applies again, if there is any
   */
  install(installed: Installed): () => void {
    this.#installed().add(installed);
    return () => {
      this.#installed().delete(installed);
    };
  }
}

interface Hook {
  readonly calls: AdapterCalls;
  readonly guard: string;
}

/**
 * The recorders of one object that an adapter has modified, such as a client or a server. The first records; the others
 * only apply their guards.
 */
export class TargetHooks<Options extends AdapterOptions = AdapterOptions> {
  readonly #create: (options: Options) => AdapterCalls;
  readonly #hooks: Hook[] = [];

  /** @param create - creates the `AdapterCalls` of the adapter */
  constructor(create: (options: Options) => AdapterCalls) {
    this.#create = create;
  }

  /** Adds a recorder, unless one with the same guard options is present. */
  add(options: Options): void {
    const calls = this.#create(options);
    const guard = JSON.stringify(options.guard) ?? '';
    const isThere = this.#hooks.some(
      (hook) => hook.calls.recorder === calls.recorder && hook.guard === guard,
    );
    if (!isThere) this.#hooks.push({ calls, guard });
  }

  /**
   * Returns the recorders that cover a tool, one hook of each.
   *
   * @param toolName - default: any tool
   */
  recordersOf(toolName?: string): AdapterCalls[] {
    const byRecorder = new Map<object, AdapterCalls>();
    for (const { calls } of this.#hooks) {
      const isCovered = toolName === undefined || calls.covers(toolName);
      if (isCovered && !byRecorder.has(calls.recorder)) byRecorder.set(calls.recorder, calls);
    }
    return [...byRecorder.values()];
  }

  /**
   * Runs a call through all recorders that cover it.
   *
   * @param termsOf - returns the part of the call that depends on the recorder
   */
  run<Result>(
    call: HookedCall,
    run: RunCall<Result>,
    termsOf: (calls: AdapterCalls) => RecorderTerms = () => ({}),
  ): Promise<Result> {
    const first = this.#hooks
      .filter(({ calls }) => calls.covers(call.toolName))
      .reduceRight<RunCall<Result>>(
        (inner, { calls }) =>
          (args, outer) =>
            calls.run({ ...call, arguments: args, ...termsOf(calls) }, (next, own) =>
              inner(next, own ?? outer),
            ),
        run,
      );
    return Promise.resolve(first(call.arguments, undefined));
  }

  /**
   * Does the same as {@link TargetHooks.run} for calls that cannot be put in one function.
   *
   * @throws ActionDeniedError when a guard denies the call
   */
  begin(call: HookedCall): Promise<BegunCall> {
    return BegunCall.begin((body) => this.run(call, body));
  }
}

/**
 * Returns the hooks of an object, which copies of an adapter share.
 *
 * @param brand - symbol under which the object stores them
 * @param wrap - installs the hooks, the first time
 * @param create - creates the hooks to install
 */
export function targetHooks<Hooks extends TargetHooks<never>>(
  target: object,
  brand: symbol,
  wrap: (hooks: Hooks) => void,
  create: () => Hooks,
): Hooks {
  const known = (target as { readonly [key: symbol]: Hooks | undefined })[brand];
  if (known) return known;
  const hooks = create();
  wrap(hooks);
  Object.defineProperty(target, brand, { value: hooks });
  return hooks;
}

/** Method of any object. */
export type Method<Result = unknown> = (...args: unknown[]) => Result;

/**
 * Methods of a framework's classes that an adapter replaces. Each is replaced once in a process, by whichever copy of
 * the adapter is first.
 */
export class MethodHooks {
  readonly #originals: (prototype: object) => Map<PropertyKey, Method>;

  /** @param name - name for all copies of the adapter, such as `@actlog/langchain/hooked-methods` */
  constructor(name: string) {
    this.#originals = processWidePerOwner(name, () => new Map());
  }

  /**
   * Replaces a method, unless it is replaced already.
   *
   * @param prototype - object that has or inherits the method
   * @param hook - receives the object that the method is called on, the original and the arguments
   */
  hook<Target extends object, Result>(
    prototype: Target,
    method: keyof Target & (string | symbol),
    hook: (target: never, original: Method<Result>, args: unknown[]) => Result,
  ): void {
    const originals = this.#originals(prototype);
    if (originals.has(method)) return;
    const original = prototype[method] as Method<Result>;
    originals.set(method, original);
    const value = function (this: never, ...args: unknown[]) {
      return hook(this, original, args);
    };
    Object.defineProperty(prototype, method, { configurable: true, writable: true, value });
  }

  /** Returns the original of a replaced method; undefined for any other. */
  original<Target extends object>(
    prototype: Target,
    method: keyof Target & (string | symbol),
  ): Method | undefined {
    return this.#originals(prototype).get(method);
  }
}

/**
 * Selects the functions of an object that keep the object as their `this`, which reading private fields requires.
 *
 * - `every-function`: own functions too, for objects that may be literals with methods, or have callbacks that read
 *   them. Each read returns a new function without the properties of the original.
 * - `class-methods`: only inherited functions. An own function stays the same value, for objects with functions that
 *   are more than code: a schema with properties, or a class. The same applies to `constructor`.
 */
export type BoundFunctions = 'every-function' | 'class-methods';

/**
 * Returns a view of an object with some methods replaced: the same type, the same private fields. A property set on
 * either is visible on both.
 *
 * @param target - object that everything else is read from; getters run on it
 * @param methods - replacements by name, including names that the object lacks
 * @param bound - functions that keep the object as their `this`. Default `every-function`
 */
export function withMethods<Target extends object>(
  target: Target,
  methods: Readonly<Record<string, unknown>>,
  bound: BoundFunctions = 'every-function',
): Target {
  const get = (_own: Target, property: string | symbol): unknown => {
    if (Object.hasOwn(methods, property)) return methods[property as string];
    const value: unknown = Reflect.get(target, property, target);
    if (typeof value !== 'function') return value;
    const isKept =
      bound === 'class-methods' && (Object.hasOwn(target, property) || property === 'constructor');
    return isKept ? value : value.bind(target);
  };
  return allowsView(target, methods, bound)
    ? new Proxy(target, { get })
    : new Proxy(shadowOf(target), { ...passedOnTo(target), get });
}

/**
 * Returns `true` if a proxy of the object may return other values. For a property that cannot change, a proxy must
 * return the original value.
 */
function allowsView(
  target: object,
  methods: Readonly<Record<string, unknown>>,
  bound: BoundFunctions,
): boolean {
  return Reflect.ownKeys(target).every((property) => {
    const own = Reflect.getOwnPropertyDescriptor(target, property);
    if (!own || own.configurable || own.writable || own.get) return true;
    const isBound = bound === 'every-function' && typeof own.value === 'function';
    return !isBound && !Object.hasOwn(methods, property);
  });
}

/**
 * Creates an object of the same type and with the same properties, all configurable, so that a proxy of it is
 * unrestricted.
 */
function shadowOf<Target extends object>(target: Target): Target {
  const own = Object.entries(Object.getOwnPropertyDescriptors(target));
  const free = own.map(([name, descriptor]) => [name, { ...descriptor, configurable: true }]);
  return Object.create(Reflect.getPrototypeOf(target), Object.fromEntries(free)) as Target;
}

/** Forwards all operations except reads to the original object. */
function passedOnTo<Target extends object>(target: Target): ProxyHandler<Target> {
  return {
    set: (_shadow, property, value) => Reflect.set(target, property, value, target),
    has: (_shadow, property) => Reflect.has(target, property),
    deleteProperty: (_shadow, property) => Reflect.deleteProperty(target, property),
    defineProperty: (_shadow, property, descriptor) => Reflect.defineProperty(target, property, descriptor),
    ownKeys: () => Reflect.ownKeys(target),
    getOwnPropertyDescriptor(_shadow, property) {
      const own = Reflect.getOwnPropertyDescriptor(target, property);
      return own && { ...own, configurable: true };
    },
  };
}

const counts = processWide('@actlog/recorder/own-names', () => new Map<string, number>());

/**
 * Returns a plugin name that is unique for this framework in the process: `actlog`, `actlog-2` and so on. Some
 * frameworks reject two plugins with the same name, or treat them as one.
 */
export function ownName(framework: string): string {
  const count = (counts().get(framework) ?? 0) + 1;
  counts().set(framework, count);
  return count === 1 ? 'actlog' : `actlog-${count}`;
}

/**
 * Runs each step of a generator with a function, because a generator runs in the async context of whoever reads it. Ends
 * the generator in the same way if the reader stops early.
 *
 * @param inContext - runs a step
 */
export async function* stepwise<Item, Result>(
  generator: AsyncGenerator<Item, Result, undefined>,
  inContext: <Value>(step: () => Value) => Value,
): AsyncGenerator<Item, Result, undefined> {
  let isDone = false;
  try {
    let next = await inContext(() => generator.next());
    while (!next.done) {
      yield next.value;
      next = await inContext(() => generator.next());
    }
    isDone = true;
    return next.value;
  } finally {
    if (!isDone) await inContext(() => generator.return(undefined as never));
  }
}
