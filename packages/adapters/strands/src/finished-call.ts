import { responseStatuses, type ToolOutcome } from '@actlog/recorder';
import type { AfterToolCallEvent } from '@strands-agents/sdk';
import { behindStandIns } from './chosen-tool.ts';
import { outcomeOf } from './tool-outcome.ts';

/** What is known of a call that is over, for all interventions that hear of it. */
interface FinishedCall {
  /** Whether its tool ran, and so recorded it. */
  readonly hasRun: boolean;
  /** Who has recorded it meanwhile. */
  readonly recordedBy: Set<object>;
}

const finishedCalls = new WeakMap<AfterToolCallEvent, FinishedCall>();

/** Looks behind the stand-in, and puts the tool itself back in the event, so that other hooks know it as theirs. */
export function finishedCall(event: AfterToolCallEvent): FinishedCall {
  const known = finishedCalls.get(event);
  if (known) return known;
  const { tool, hasRun } = behindStandIns(event.tool);
  Object.assign(event, { tool });
  const finished = { hasRun, recordedBy: new Set<object>() };
  finishedCalls.set(event, finished);
  return finished;
}

/** How a call ended whose tool did not run: there was none, a hook cancelled it, or a hook answered in its place. */
export function outcomeOfUnrun({ tool, result, error }: AfterToolCallEvent): ToolOutcome {
  if (result.status === 'success' || error) return outcomeOf(result);
  const [status, message] = tool
    ? [responseStatuses.denied, 'The call was cancelled.']
    : [responseStatuses.unknownTool, 'The tool is not there.'];
  return { ok: false, error: Object.assign(new Error(message), { status }) };
}
