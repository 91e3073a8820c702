import { AsyncLocalStorage } from 'node:async_hooks';
import { type AdapterCalls, ProcessCoverage, processWide } from '@actlog/recorder/adapter';
import type { LocalAgent } from '@strands-agents/sdk';

/** Recorders of `actlog.install()`. */
export const processCoverage: ProcessCoverage = new ProcessCoverage('@actlog/strands/installed');

/** A covered call, whose tool may run agents itself. */
interface CoveredCall {
  readonly calls: AdapterCalls;
  /** Agent that makes the call; undefined for a direct call. */
  readonly agent: LocalAgent | undefined;
  readonly outer?: CoveredCall | undefined;
}

/** Innermost covered call. */
const around = processWide('@actlog/strands/call-around', () => new AsyncLocalStorage<CoveredCall>());

/** Runs a step of a covered call. */
export function withinCall<Result>(call: Omit<CoveredCall, 'outer'>, step: () => Result): Result {
  return around().run({ ...call, outer: around().getStore() }, step);
}

/** Returns the recorder of the innermost covered call. */
export function callsAround(): AdapterCalls | undefined {
  return around().getStore()?.calls;
}

/** Yields the agents whose calls surround this code, starting with the innermost. */
export function* agentsAround(): Generator<LocalAgent> {
  for (let call = around().getStore(); call; call = call.outer) if (call.agent) yield call.agent;
}
