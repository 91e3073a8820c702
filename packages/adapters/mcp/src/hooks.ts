import type { AdapterCalls, AdapterOptions, HookedCall } from '@actlog/recorder/adapter';
import { mcpCalls } from './mcp-calls.ts';

const brand = Symbol.for('@actlog/mcp');

interface Hook {
  readonly calls: AdapterCalls;
  readonly guard: string;
}

/** Those who record the calls of one client or server; the first records, the others are asked by their guards. */
export class Hooks {
  readonly #hooks: Hook[] = [];

  /** One more, unless it is there already: with the same recorder and a guard of the same terms. */
  add(options: AdapterOptions): void {
    const calls = mcpCalls(options);
    const guard = JSON.stringify(options.guard) ?? '';
    const isThere = this.#hooks.some(
      (hook) => hook.calls.recorder === calls.recorder && hook.guard === guard,
    );
    if (!isThere) this.#hooks.push({ calls, guard });
  }

  /** Runs a call as one call of all that cover it. */
  run<Result>(call: HookedCall, run: () => Promise<Result>): Promise<Result> {
    return this.#hooks
      .filter(({ calls }) => calls.covers(call.toolName))
      .reduceRight(
        (inner, { calls }) =>
          () =>
            calls.run(call, inner),
        run,
      )();
  }
}

/**
 * The hooks of a client or server.
 *
 * @param wrap - puts them in its calls, the first time
 */
export function hooksOf(target: object, wrap: (hooks: Hooks) => void): Hooks {
  const known = (target as { [brand]?: Hooks })[brand];
  if (known) return known;
  const hooks = new Hooks();
  wrap(hooks);
  Object.defineProperty(target, brand, { value: hooks });
  return hooks;
}
