import { AsyncLocalStorage } from 'node:async_hooks';
import { ProcessCoverage, processWide } from '@actlog/recorder/adapter';
import type { BasePlugin, InvocationContext } from '@google/adk';

/** Plugins of `actlog.install()`. */
export const processCoverage: ProcessCoverage<BasePlugin> = new ProcessCoverage(
  '@actlog/google-adk/installed',
);

/** A covered run or a recorded call, whose code may run agents itself. */
interface Surroundings {
  /** Plugins that record the calls. */
  readonly plugins: readonly BasePlugin[];
  /** Session of the run. */
  readonly sessionId: string | undefined;
  /** Invocation that makes the call; undefined for a run. */
  readonly context?: InvocationContext | undefined;
  readonly outer: Surroundings | undefined;
}

const around = processWide('@actlog/google-adk/surroundings', () => new AsyncLocalStorage<Surroundings>());

/** Runs the tool of a recorded call, or a step of a covered run. */
export function within<Result>(surroundings: Omit<Surroundings, 'outer'>, run: () => Result): Result {
  return around().run({ ...surroundings, outer: around().getStore() }, run);
}

/** Yields the runs and calls around this code, starting with the innermost. */
export function* surroundingRuns(): Generator<Surroundings> {
  for (let one = around().getStore(); one; one = one.outer) yield one;
}

/** Returns the session of the outermost run around this code. */
export function sessionAround(): string | undefined {
  return [...surroundingRuns()].at(-1)?.sessionId;
}

/** Returns the invocations whose recorded calls run this code, starting with the innermost. */
export function invocationsAround(): InvocationContext[] {
  return [...surroundingRuns()].flatMap(({ context }) => context ?? []);
}
