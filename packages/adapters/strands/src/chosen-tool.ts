import { type AdapterCalls, processWide, withMethods } from '@actlog/recorder/adapter';
import type { BeforeToolCallEvent, Tool, ToolContext } from '@strands-agents/sdk';
import { recordedStream } from './recorded-tool.ts';
import { noteUncoveredTool } from './shown-texts.ts';
import { isWrapped } from './wrapped-tools.ts';

/** A tool that replaces another during one call. */
interface StandIn {
  readonly tool: Tool;
  hasRun: boolean;
}

const standIns = processWide('@actlog/strands/stand-ins', () => new WeakMap<Tool, StandIn>());

/** Options for recording the tool that a call runs. */
interface ChosenToolOptions {
  /** Covers the agent behind a tool, if there is one. */
  readonly coverAgentOf: (tool: Tool, calls: AdapterCalls) => void;
  /** Leaves tools of `actlog.tools()` to their own recorder. Default false. */
  readonly leavesWrapped?: boolean | undefined;
}

/**
 * Makes the call run a stand-in that records it, for whichever tool is selected by hooks. Later hooks may still select
 * another tool or name, and the last choice runs. Therefore the stand-in is created when Strands reads `selectedTool`,
 * so that no choice bypasses the guard.
 */
export function recordChosenTool(
  event: BeforeToolCallEvent,
  calls: AdapterCalls,
  { coverAgentOf, leavesWrapped = false }: ChosenToolOptions,
): void {
  const earlier = Object.getOwnPropertyDescriptor(event, 'selectedTool');
  const { name } = event.toolUse;
  let chosen: Tool | undefined = earlier?.get ? undefined : event.selectedTool;
  let standIn: Tool | undefined;
  const choice = (): Tool | undefined => {
    if (earlier?.get) return earlier.get.call(event); // installed twice: the earlier stand-in
    if (chosen) return chosen;
    return event.toolUse.name === name ? event.tool : event.agent.toolRegistry.get(event.toolUse.name);
  };
  Object.defineProperty(event, 'selectedTool', {
    configurable: true,
    enumerable: true,
    get() {
      const tool = choice();
      if (tool) coverAgentOf(tool, calls); // even if the options exclude the agent's tool
      if (!calls.covers(event.toolUse.name)) {
        if (tool) noteUncoveredTool(tool);
        return tool;
      }
      if (!tool) return noteUnknown(event, calls);
      if (!standIn || standIns().get(standIn)?.tool !== tool)
        standIn = standInFor(tool, leavesWrapped && isWrapped(tool) ? undefined : calls);
      return standIn;
    },
    set(tool: Tool | undefined) {
      if (earlier?.set) earlier.set.call(event, tool);
      else chosen = tool;
    },
  });
}

/**
 * Announces the call of an unknown tool, which is recorded when Strands reports it, after the end of the call's span.
 */
function noteUnknown(event: BeforeToolCallEvent, calls: AdapterCalls): undefined {
  const { name: toolName, toolUseId: callId } = event.toolUse;
  if (calls.claim(event)) calls.note({ toolName, callId });
}

/** @param calls - recorder; undefined for a tool that records itself */
function standInFor(tool: Tool, calls: AdapterCalls | undefined): Tool {
  const state = { tool, hasRun: false };
  const standIn = withMethods(tool, {
    stream: (context: ToolContext) => {
      state.hasRun = true;
      return calls ? recordedStream(tool, calls, context) : tool.stream(context);
    },
  });
  standIns().set(standIn, state);
  return standIn;
}

/** Returns the tool behind its stand-ins, with `hasRun` set if one of them ran. */
export function behindStandIns(given: Tool | undefined): { tool: Tool | undefined; hasRun: boolean } {
  let tool = given;
  let hasRun = false;
  for (let state = tool && standIns().get(tool); state; state = standIns().get(tool as Tool)) {
    tool = state.tool;
    hasRun ||= state.hasRun;
  }
  return { tool, hasRun };
}
