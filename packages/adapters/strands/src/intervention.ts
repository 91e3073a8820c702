import { type AdapterCalls, type AdapterOptions, ownName } from '@actlog/recorder/adapter';
import {
  type AfterToolCallEvent,
  type BeforeToolCallEvent,
  InterventionActions,
  InterventionHandler,
} from '@strands-agents/sdk';
import { recordChosenTool } from './chosen-tool.ts';
import { hasRun, outcomeOfUnrun } from './finished-call.ts';
import { hookedCall, strandsCalls } from './strands-calls.ts';

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
  /** Strands refuses two interventions of one name, and an agent that has two is to run. */
  override readonly name = ownName('strands');
  readonly #calls: AdapterCalls;

  constructor(options: AdapterOptions) {
    super();
    this.#calls = strandsCalls(options);
  }

  override beforeToolCall(event: BeforeToolCallEvent) {
    recordChosenTool(event, this.#calls);
    return InterventionActions.proceed();
  }

  override afterToolCall(event: AfterToolCallEvent) {
    if (!hasRun(event) && this.#calls.covers(event.toolUse.name) && this.#calls.claim(event)) {
      // Without its id: what has a span was noted before, and what was cancelled has none.
      this.#calls.record({ ...hookedCall(event), callId: undefined }, outcomeOfUnrun(event));
    }
    return InterventionActions.proceed();
  }
}
