import { AsyncLocalStorage } from 'node:async_hooks';
import { ActionDeniedError, type ApprovedChange, type ToolOutcome } from '@actlog/recorder';
import {
  type AdapterCalls,
  abandonedCall,
  type BegunCall,
  DeniedRun,
  type HookedCall,
  ProcessCoverage,
  processWide,
  withMethods,
} from '@actlog/recorder/adapter';
import type {
  BeforeToolCallEvent,
  LocalAgent,
  Tool,
  ToolContext,
  ToolStreamGenerator,
} from '@strands-agents/sdk';
import { hookedCall, outcomeOf, rememberUncoveredTool } from './strands-calls.ts';

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
function* agentsAround(): Generator<LocalAgent> {
  for (let call = around().getStore(); call; call = call.outer) if (call.agent) yield call.agent;
}

/** Current runs of agents that have denials. */
const runs = processWide('@actlog/strands/denied-runs', () => new WeakMap<LocalAgent, DeniedRun>());

/**
 * Counts a denial in the agent's current run, which ends before the next model call if the model repeats itself. The end
 * of a run is a denial for the agent whose tool runs it, because its model might keep starting that agent.
 */
function countDenial(agent: LocalAgent, call: HookedCall, denial: ActionDeniedError): void {
  for (const one of [agent, ...agentsAround()]) {
    const run = runs().get(one) ?? new DeniedRun();
    runs().set(one, run);
    if (!run.deny(call, denial)) return;
  }
}

/** Resets the denials of a tool after an allowed call of an agent. */
function resetDenials(agent: LocalAgent, toolName: string): void {
  runs().get(agent)?.letThrough(toolName);
}

/** Forgets the denials of an agent's earlier run. */
export function beginRun(agent: LocalAgent): void {
  runs().delete(agent);
}

/** Returns the reason why the agent's current run must end; undefined while it continues. */
export function endOfRun(agent: LocalAgent): string | undefined {
  return runs().get(agent)?.reason;
}

/** Outcome of a call whose tool was closed at one of its updates. */
const closedEarly: ToolOutcome = {
  ok: false,
  error: abandonedCall('The tool was closed early.'),
};

/**
 * Runs a tool, recorded and guarded. Throws a denial, which Strands converts to an error result with the message for
 * the model and the error for hooks.
 */
export async function* recordedStream(
  tool: Tool,
  calls: AdapterCalls,
  context: ToolContext,
): ToolStreamGenerator {
  const call = await begin(calls, context);
  const step = <Result>(run: () => Result) =>
    call.step(() => withinCall({ calls, agent: context.agent }, run));
  let outcome = closedEarly;
  let updates: ToolStreamGenerator | undefined;
  try {
    const running = step(() => tool.stream(withInput(context, call.change)));
    updates = running;
    let next = await step(() => running.next());
    while (!next.done) {
      yield next.value;
      next = await step(() => running.next());
    }
    outcome = outcomeOf(next.value);
    return next.value;
  } catch (error) {
    outcome = { ok: false, error };
    throw error;
  } finally {
    const left = outcome === closedEarly ? updates : undefined;
    await call.end(outcome);
    await step(() => left?.return(undefined as never));
  }
}

/** Returns the context of a call with the arguments that an approver changed. */
function withInput(context: ToolContext, change: ApprovedChange | undefined): ToolContext {
  if (!change) return context;
  const toolUse = { ...context.toolUse, input: change.arguments as ToolContext['toolUse']['input'] };
  return Object.create(Object.getPrototypeOf(context) as object, {
    ...Object.getOwnPropertyDescriptors(context),
    toolUse: { value: toolUse, enumerable: true, configurable: true, writable: true },
  }) as ToolContext;
}

async function begin(calls: AdapterCalls, context: ToolContext): Promise<BegunCall> {
  const { agent, toolUse } = context;
  const call = { ...hookedCall(context, calls), acceptsChanges: true };
  try {
    const begun = await calls.begin(call);
    resetDenials(agent, toolUse.name);
    return begun;
  } catch (error) {
    if (ActionDeniedError.isInstance(error)) countDenial(agent, call, error);
    throw error;
  }
}

/** Tools of `actlog.tools()`, which record their calls themselves. */
const wrappedTools = processWide('@actlog/strands/wrapped-tools', () => new WeakSet<object>());

/** Remembers a tool of `actlog.tools()`. */
export function rememberWrapped(tool: object): void {
  wrappedTools().add(tool);
}

/** Returns `true` for a tool of `actlog.tools()`. */
export function isWrapped(tool: object): boolean {
  return wrappedTools().has(tool);
}

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
  /** Leaves tools of `actlog.tools()` to the recorder that wrapped them. Default false. */
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
        if (tool) rememberUncoveredTool(tool);
        return tool;
      }
      if (!tool) return rememberUnknown(event, calls);
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
function rememberUnknown(event: BeforeToolCallEvent, calls: AdapterCalls): undefined {
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
