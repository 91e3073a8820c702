import type { ArgumentOrigins } from '@actlog/recorder';
// The recorder's own code, below its public interface.
import { OriginTracker } from '../../packages/recorder/src/origins/origin-tracker.ts';
import type { LabeledRun } from './labeled-run.ts';

const SESSION_BYTES = 256 * 1024;

/**
 * Returns the origins of the arguments of each call of a run with content. Calls of one turn are concurrent, so none of
 * them can have arguments from the result of another.
 *
 * @param idOf - id of a call's event, by its position
 */
export function callOrigins(run: LabeledRun, idOf: (at: number) => string): ArgumentOrigins[] {
  const tracker = new OriginTracker(SESSION_BYTES);
  if (run.system) tracker.systemText(run.system);
  for (const text of run.user ?? []) tracker.userText(text);
  const origins: ArgumentOrigins[] = [];
  const { events } = run;
  for (let start = 0; start < events.length; ) {
    const turn = events[start]?.[5];
    let end = start + 1;
    while (turn !== undefined && end < events.length && events[end]?.[5] === turn) end += 1;
    const traces = events.slice(start, end).map((event) => tracker.trace(event[3]));
    for (const [index, trace] of traces.entries()) {
      const [toolName, , , , result] = events[start + index] as (typeof events)[number];
      origins.push(trace.origins);
      if (result !== null && result !== undefined) {
        tracker.result({ toolName, eventId: idOf(start + index) }, result, trace);
      }
    }
    start = end;
  }
  return origins;
}
