import { type AdapterCalls, processWide } from '@actlog/recorder/adapter';

/** Whose tool calls are recorded, and through what. */
export interface Coverage {
  readonly agents: WeakMap<object, AdapterCalls>;
  readonly runners: WeakMap<object, AdapterCalls>;
  /** Everything in this process that is not named in the maps. */
  process: AdapterCalls | undefined;
}

/** The coverage of this process, in which the SDK's classes are hooked once. */
export const coverage: () => Coverage = processWide<Coverage>('@actlog/openai-agents/coverage', () => ({
  agents: new WeakMap(),
  runners: new WeakMap(),
  process: undefined,
}));
