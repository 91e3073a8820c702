import type { AdapterCalls } from './adapter-calls.ts';
import type { AdapterOptions } from './adapter-options.ts';
import { BegunCall } from './begun-call.ts';
import type { HookedCall } from './hooked-call.ts';
import type { RecorderTerms } from './mcp/server-call.ts';

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
    run: () => Promise<Result>,
    termsOf: (calls: AdapterCalls) => RecorderTerms = () => ({}),
  ): Promise<Result> {
    return this.#hooks
      .filter(({ calls }) => calls.covers(call.toolName))
      .reduceRight(
        (inner, { calls }) =>
          () =>
            calls.run({ ...call, ...termsOf(calls) }, inner),
        run,
      )();
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
