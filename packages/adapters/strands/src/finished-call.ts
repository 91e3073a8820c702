import { responseStatuses, type ToolOutcome } from '@actlog/recorder';
import { type AdapterCalls, processWide } from '@actlog/recorder/adapter';
import type { AfterToolCallEvent } from '@strands-agents/sdk';
import { behindStandIns } from './chosen-tool.ts';
import { hookedCall } from './strands-calls.ts';
import { outcomeOf } from './tool-outcome.ts';

/** Finished calls whose tools ran. */
const ranCalls = processWide('@actlog/strands/ran-calls', () => new WeakSet<AfterToolCallEvent>());

/**
 * Returns `true` if the tool of a finished call ran and has recorded it. Restores the tool behind the stand-in in the
 * event, so that other hooks recognize it.
 */
function hasRun(event: AfterToolCallEvent): boolean {
  const behind = behindStandIns(event.tool);
  Object.assign(event, { tool: behind.tool });
  if (behind.hasRun) ranCalls().add(event);
  return ranCalls().has(event);
}

/** Records a call whose tool did not run, from Strands' report of it. */
export function recordUnrun(event: AfterToolCallEvent, calls: AdapterCalls): void {
  if (hasRun(event) || !calls.covers(event.toolUse.name) || !calls.claim(event)) return;
  // Without its id: a call with a span was announced before, and a canceled one has no span.
  calls.record({ ...hookedCall(event, calls), callId: undefined }, outcomeOfUnrun(event));
}

/**
 * Returns the outcome of a call whose tool did not run: unknown, canceled by a hook, or replaced by a hook's result.
 */
function outcomeOfUnrun({ tool, result, error }: AfterToolCallEvent): ToolOutcome {
  if (result.status === 'success' || error) return outcomeOf(result);
  const [status, message] = tool
    ? [responseStatuses.denied, 'The call was canceled.']
    : [responseStatuses.unknownTool, 'Unknown tool.'];
  return { ok: false, error: Object.assign(new Error(message), { status }) };
}
