import { AsyncLocalStorage } from 'node:async_hooks';
import { ProcessCoverage, processWide } from '@actlog/recorder/adapter';
import type { BasePlugin, InvocationContext } from '@google/adk';

/** Plugins of `actlog.install()`. */
export const processCoverage: ProcessCoverage<BasePlugin> = new ProcessCoverage(
  '@actlog/google-adk/installed',
);

/** A recorded call, whose tool may run agents itself. */
export interface SurroundingCall {
  /** Plugins that record the call. */
  readonly plugins: readonly BasePlugin[];
  /** Invocation that makes the call. */
  readonly context: InvocationContext;
  readonly outer: SurroundingCall | undefined;
}

const around = processWide('@actlog/google-adk/call-around', () => new AsyncLocalStorage<SurroundingCall>());

/** Runs the tool of a recorded call. */
export function withinCall<Result>(call: Omit<SurroundingCall, 'outer'>, run: () => Result): Result {
  return around().run({ ...call, outer: around().getStore() }, run);
}

/** Returns the innermost recorded call around this code. */
export function callAround(): SurroundingCall | undefined {
  return around().getStore();
}

/** Returns the session of the outermost recorded call around this code. */
export function sessionAround(): string | undefined {
  let call = callAround();
  while (call?.outer) call = call.outer;
  return call?.context.session.id;
}
