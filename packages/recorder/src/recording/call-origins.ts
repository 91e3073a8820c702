import { type ToolOutcome, toIdentifier } from '@actlog/tool-call';
import type { ToolCall } from '../events/tool-call.ts';
import type { Trace } from '../origins/origin-tracker.ts';
import { hasOrigins } from '../origins/session-origins.ts';
import type { FactRefusals } from '../reporting/fact-refusals.ts';
import type { ActiveCall } from './active-call.ts';
import type { EventRecorder, EventSource } from './event-recorder.ts';

/** The recorded call that an `argument_origins` event is about. */
interface RecordedCall {
  readonly callEventId: string;
  readonly sessionId: string;
  readonly sourceTimestamp: string;
}

/** Records where the arguments of calls came from. */
export class CallOrigins {
  readonly #events: EventRecorder;
  readonly #refusals: FactRefusals;

  constructor(events: EventRecorder, refusals: FactRefusals) {
    this.#events = events;
    this.#refusals = refusals;
  }

  /** Records the origins of a call, if there is anything to report and the service takes such events. */
  report(nowMs: number, source: EventSource, call: RecordedCall, trace: Trace | undefined): void {
    if (trace === undefined || this.#refusals.ofEvents('origins') || !hasOrigins(trace.origins)) return;
    this.#events.addOrigins(nowMs, source, { ...call, origins: trace.origins, userText: trace.userText });
  }
}

/**
 * Remembers the result of a call, in which arguments of later calls may stand.
 *
 * @param eventId - id of the call's event; undefined if it was not recorded
 */
export function noteResult(
  call: ToolCall,
  active: ActiveCall,
  eventId: string | undefined,
  outcome: ToolOutcome,
): void {
  const { origins, refusedWith, sessionId, toolName, trace } = active;
  if (origins === undefined || refusedWith !== undefined) return;
  const traced = { toolName: toIdentifier(toolName, 'unknown'), eventId };
  origins.noteResult(sessionId, traced, () => shownResult(outcome, call.resultOf), trace);
}

/** Returns what the model sees of an outcome: the result, or the message of the error. */
export function shownResult(outcome: ToolOutcome, resultOf: ToolCall['resultOf']): unknown {
  if (outcome.ok) return resultOf ? resultOf(outcome.result) : outcome.result;
  return outcome.error instanceof Error ? outcome.error.message : outcome.error;
}
