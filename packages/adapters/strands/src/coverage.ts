import { AsyncLocalStorage } from 'node:async_hooks';
import { type AdapterCalls, ProcessCoverage, processWide } from '@actlog/recorder/adapter';

/** Recorders of `actlog.install()`. */
export const processCoverage: ProcessCoverage = new ProcessCoverage('@actlog/strands/installed');

/** Recorder of the innermost covered call, whose tool may run agents itself. */
const around = processWide('@actlog/strands/calls-around', () => new AsyncLocalStorage<AdapterCalls>());

/** Runs a step of a covered call. */
export function withinCall<Result>(calls: AdapterCalls, step: () => Result): Result {
  return around().run(calls, step);
}

/** Returns the recorder of the innermost covered call. */
export function callsAround(): AdapterCalls | undefined {
  return around().getStore();
}
