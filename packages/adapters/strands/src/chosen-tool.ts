import { type AdapterCalls, processWide, withMethods } from '@actlog/recorder/adapter';
import type { BeforeToolCallEvent, Tool, ToolContext } from '@strands-agents/sdk';
import { recordedStream } from './recorded-tool.ts';

/** What is known of a tool that stands in for another during one call. */
interface StandIn {
  readonly tool: Tool;
  hasRun: boolean;
}

const standIns = processWide('@actlog/strands/stand-ins', () => new WeakMap<Tool, StandIn>());

/**
 * Has the call run a stand-in that records it, for whichever tool hooks leave in `selectedTool`. Hooks that come later
 * may still choose another tool or another name, and it is the last choice that runs; so the stand-in is made when
 * Strands reads what to run, and no choice slips past the guard.
 */
export function recordChosenTool(event: BeforeToolCallEvent, calls: AdapterCalls): void {
  const earlier = Object.getOwnPropertyDescriptor(event, 'selectedTool');
  const { name } = event.toolUse;
  let chosen: Tool | undefined = earlier?.get ? undefined : event.selectedTool;
  let standIn: Tool | undefined;
  const choice = (): Tool | undefined => {
    if (earlier?.get) return earlier.get.call(event); // installed twice: the stand-in of the one before
    if (chosen) return chosen;
    return event.toolUse.name === name ? event.tool : event.agent.toolRegistry.get(event.toolUse.name);
  };
  Object.defineProperty(event, 'selectedTool', {
    configurable: true,
    enumerable: true,
    get() {
      const tool = choice();
      if (!calls.covers(event.toolUse.name)) return tool;
      if (!tool) return noteUnknown(event, calls);
      if (!standIn || standIns().get(standIn)?.tool !== tool) standIn = standInFor(tool, calls);
      return standIn;
    },
    set(tool: Tool | undefined) {
      if (earlier?.set) earlier.set.call(event, tool);
      else chosen = tool;
    },
  });
}

/** A tool that is not there is recorded when Strands says so, which is after it has ended the span of the call. */
function noteUnknown(event: BeforeToolCallEvent, calls: AdapterCalls): undefined {
  const { name: toolName, toolUseId: callId } = event.toolUse;
  if (calls.claim(event)) calls.note({ toolName, callId });
}

function standInFor(tool: Tool, calls: AdapterCalls): Tool {
  const state = { tool, hasRun: false };
  const standIn = withMethods(tool, {
    stream: (context: ToolContext) => {
      state.hasRun = true;
      return recordedStream(tool, calls, context);
    },
  });
  standIns().set(standIn, state);
  return standIn;
}

/** The tool behind its stand-ins, and whether one of them ran. */
export function behindStandIns(given: Tool | undefined): { tool: Tool | undefined; hasRun: boolean } {
  let tool = given;
  let hasRun = false;
  for (let state = tool && standIns().get(tool); state; state = standIns().get(tool as Tool)) {
    tool = state.tool;
    hasRun ||= state.hasRun;
  }
  return { tool, hasRun };
}
