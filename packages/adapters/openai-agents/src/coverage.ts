import { type AdapterCalls, ProcessCoverage, processWide } from '@actlog/recorder/adapter';

/** Recorders of tool calls by agent and runner. */
export interface Coverage {
  readonly agents: WeakMap<object, AdapterCalls>;
  /**
   * Agents that a covered agent hands over to or uses as tools. They stay covered in their own runs, as in
   * `run(result.lastAgent, …)`, unless something nearer covers them.
   */
  readonly reached: WeakMap<object, AdapterCalls>;
  readonly runners: WeakMap<object, AdapterCalls>;
}

/** Coverage of this process, whose SDK classes are hooked once. */
export const coverage: () => Coverage = processWide<Coverage>('@actlog/openai-agents/coverage', () => ({
  agents: new WeakMap(),
  reached: new WeakMap(),
  runners: new WeakMap(),
}));

/** Recorders of everything in this process that is not in the maps, from `actlog.install()`. */
export const processCoverage: ProcessCoverage = new ProcessCoverage('@actlog/openai-agents/process');
