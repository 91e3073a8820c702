import type { AdapterCalls, AdapterOptions, HookedCall, RecorderTerms } from '@actlog/recorder/adapter';
import { mcpCalls } from './mcp-calls.ts';

const brand = Symbol.for('@actlog/mcp');

interface Hook {
  readonly calls: AdapterCalls;
  readonly guard: string;
}

/** The recorders of one client or server. The first records; the others only apply their guards. */
export class Hooks {
  readonly #hooks: Hook[] = [];

  /** Adds a recorder, unless one with the same guard options is present. */
  add(options: AdapterOptions): void {
    const calls = mcpCalls(options);
    const guard = JSON.stringify(options.guard) ?? '';
    const isThere = this.#hooks.some(
      (hook) => hook.calls.recorder === calls.recorder && hook.guard === guard,
    );
    if (!isThere) this.#hooks.push({ calls, guard });
  }

  /** Returns the recorders that cover a tool, one hook of each. */
  recordersOf(toolName: string): AdapterCalls[] {
    const byRecorder = new Map<object, AdapterCalls>();
    for (const { calls } of this.#hooks) {
      if (calls.covers(toolName) && !byRecorder.has(calls.recorder)) byRecorder.set(calls.recorder, calls);
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
}

/**
 * Returns the hooks of a client or server.
 *
 * @param wrap - installs the hooks, the first time
 * @param hooks - those to install; default: new ones
 */
export function hooksOf(target: object, wrap: (hooks: Hooks) => void, hooks: Hooks = new Hooks()): Hooks {
  const known = (target as { [brand]?: Hooks })[brand];
  if (known) return known;
  wrap(hooks);
  Object.defineProperty(target, brand, { value: hooks });
  return hooks;
}
