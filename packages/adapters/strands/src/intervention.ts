import type { AdapterCalls, AdapterOptions } from '@actlog/recorder/adapter';
import {
  type AfterToolCallEvent,
  type BeforeToolCallEvent,
  InterventionActions,
  InterventionHandler,
} from '@strands-agents/sdk';
import { recordChosenTool } from './chosen-tool.ts';
import { finishedCall, outcomeOfUnrun } from './finished-call.ts';
import { hookedCall, strandsCalls } from './strands-calls.ts';

/** How many were made: Strands refuses two interventions of one name, and an agent that has two is to run. */
let made = 0;

/** The intervention behind `actlog()`. */
export function recordIntervention(options: AdapterOptions = {}): InterventionHandler {
  return new RecordIntervention(options);
}

/**
 * Records a call by the run of its tool, and what did not run by what Strands says of it afterwards. The guard is asked
 * when the tool is about to run: other interventions have had their say by then, and have left the arguments as they
 * will be.
 */
class RecordIntervention extends InterventionHandler {
  override readonly name: string;
  readonly #calls: AdapterCalls;

  constructor(options: AdapterOptions) {
    super();
    made += 1;
    this.name = made === 1 ? 'actlog' : `actlog-${made}`;
    this.#calls = strandsCalls(options);
  }

  override beforeToolCall(event: BeforeToolCallEvent) {
    recordChosenTool(event, this.#calls);
    return InterventionActions.proceed();
  }

  override afterToolCall(event: AfterToolCallEvent) {
    const { hasRun, recordedBy } = finishedCall(event);
    if (!hasRun && !recordedBy.has(this.#calls.recorder) && this.#calls.covers(event.toolUse.name)) {
      recordedBy.add(this.#calls.recorder);
      this.#calls.record(hookedCall(event), outcomeOfUnrun(event));
    }
    return InterventionActions.proceed();
  }
}
