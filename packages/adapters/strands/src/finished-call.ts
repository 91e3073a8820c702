import { responseStatuses, type ToolOutcome } from '@actlog/recorder';
import { processWide } from '@actlog/recorder/adapter';
import type { AfterToolCallEvent } from '@strands-agents/sdk';
import { behindStandIns } from './chosen-tool.ts';
import { outcomeOf } from './tool-outcome.ts';

/** Calls that are over and whose tools ran. */
const ranCalls = processWide('@actlog/strands/ran-calls', () => new WeakSet<AfterToolCallEvent>());

/**
 * Whether the tool of a call that is over ran, and so recorded it. Looks behind the stand-in, and puts the tool itself
 * back in the event, so that other hooks know it as theirs.
 */
export function hasRun(event: AfterToolCallEvent): boolean {
  const behind = behindStandIns(event.tool);
  Object.assign(event, { tool: behind.tool });
  if (behind.hasRun) ranCalls().add(event);
  return ranCalls().has(event);
}

/** How a call ended whose tool did not run: there was none, a hook cancelled it, or a hook answered in its place. */
export function outcomeOfUnrun({ tool, result, error }: AfterToolCallEvent): ToolOutcome {
  if (result.status === 'success' || error) return outcomeOf(result);
  const [status, message] = tool
    ? [responseStatuses.denied, 'The call was cancelled.']
    : [responseStatuses.unknownTool, 'The tool is not there.'];
  return { ok: false, error: Object.assign(new Error(message), { status }) };
}
