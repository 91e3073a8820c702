import { withMethods } from '@actlog/recorder/adapter';
import type { GenerateMiddleware } from 'genkit';
import { type Coverage, coverages } from './coverage.ts';
import { Generation } from './generation.ts';
import type { Genkit } from './genkit-context.ts';
import { prependHooks } from './prepend-hooks.ts';
import { type RecordingHooks, recordingHooks } from './recording-hooks.ts';
import type { Action, Registry } from './registry.ts';
import { WrappedActions } from './wrapped-actions.ts';

/**
 * A generation that is covered from outside. If it has middleware of the user, the hooks run in front of it, as if
 * `actlog()` came first in its `use`. Without any, Genkit runs no middleware, so its model and its tools are wrapped
 * instead.
 */
export class CoveredGeneration {
  readonly #registry: Registry;
  readonly #hooks: RecordingHooks;
  readonly #actions: WrappedActions;
  /** `true` if it has middleware, which may be `actlog()` itself. */
  #hasMiddleware = false;

  constructor(ai: Genkit, coverage: Coverage, registry: Registry) {
    const generation = new Generation(ai, coverage);
    this.#registry = registry;
    this.#hooks = recordingHooks(generation, coverage.calls);
    this.#actions = new WrappedActions(generation, coverage, this.#hooks);
  }

  /** Replaces what the generation looks up in its registry. */
  hookLookups(): void {
    const { lookupAction, lookupValue } = this.#registry;
    this.#registry.lookupAction = async (key) => {
      const action = await lookupAction.call(this.#registry, key);
      return action && this.#viewOfAction(action);
    };
    this.#registry.lookupValue = async (type, key) => {
      const value = await lookupValue.call(this.#registry, type, key);
      return type === 'middleware' && value ? this.#viewOfMiddleware(value) : value;
    };
  }

  #viewOfAction(action: Action): Action {
    const runner = this.#actions.runnerOf(action);
    if (!runner) return action;
    return new Proxy(action, {
      apply: (target, self, args: unknown[]) => {
        const run = (...changed: unknown[]) => Reflect.apply(target, self, changed);
        return this.#hasMiddleware ? run(...args) : runner(run, args);
      },
    });
  }

  #viewOfMiddleware(middleware: Partial<GenerateMiddleware>): object {
    const { instantiate } = middleware;
    if (!instantiate) return middleware;
    const instantiateBehind = (...args: Parameters<typeof instantiate>) => {
      const own = instantiate.apply(middleware, args);
      if (this.#hasMiddleware) return own;
      this.#hasMiddleware = true;
      const coversItself = () => coverages().own.has(this.#registry);
      return prependHooks(own, this.#hooks, coversItself);
    };
    return withMethods(middleware, { instantiate: instantiateBehind }, 'class-methods');
  }
}
