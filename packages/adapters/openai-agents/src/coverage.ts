import type { AdapterCalls } from '@actlog/recorder/adapter';

const key = Symbol.for('@actlog/openai-agents/coverage');

/** Whose tool calls are recorded, and through what. */
export interface Coverage {
  readonly agents: WeakMap<object, AdapterCalls>;
  readonly runners: WeakMap<object, AdapterCalls>;
  /** Everything in this process that is not named in the maps. */
  process: AdapterCalls | undefined;
}

/** One for all copies of this package: the SDK's classes are hooked once. */
export function coverage(): Coverage {
  const registry = globalThis as { [key]?: Coverage };
  registry[key] ??= { agents: new WeakMap(), runners: new WeakMap(), process: undefined };
  return registry[key];
}
