import { responseStatuses, type ToolOutcome } from '@actlog/recorder';
import { type AdapterCalls, processWide } from '@actlog/recorder/adapter';
import {
  AfterToolCallEvent,
  BeforeInvocationEvent,
  BeforeModelCallEvent,
  BeforeToolCallEvent,
  HookOrder,
  type LocalAgent,
  type Tool,
} from '@strands-agents/sdk';
import { beginConversation, rememberChatMessages } from './agent-identity.ts';
import {
  beginRun,
  behindStandIns,
  callsAround,
  endOfRun,
  processCoverage,
  recordChosenTool,
} from './chosen-tool.ts';
import { hookedCall, outcomeOf, rememberAgentTexts } from './strands-calls.ts';

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

/** Symbol of the recorder on an intervention of this package. */
export const interventionCalls: unique symbol = Symbol.for('@actlog/strands/intervention-calls') as never;

/** Covered agents and their recorders. */
const covered = processWide('@actlog/strands/covered-agents', () => new WeakMap<object, AdapterCalls>());

/** Interventions of an agent; the SDK has no public way to read them. */
interface WithInterventions {
  readonly _interventionRegistry?: {
    readonly _handlers?: readonly { readonly [interventionCalls]?: AdapterCalls }[];
  };
}

/** Returns the recorder of an agent: from its intervention, otherwise from an agent that reached it. */
export function callsOf(agent: object): AdapterCalls | undefined {
  return ownCallsOf(agent) ?? covered().get(agent);
}

function ownCallsOf(agent: object): AdapterCalls | undefined {
  const handlers = (agent as WithInterventions)._interventionRegistry?._handlers ?? [];
  return handlers.find((handler) => handler[interventionCalls] !== undefined)?.[interventionCalls];
}

/** Remembers the recorder of an agent that has run with its own intervention. */
export function rememberCovered(agent: object, calls: AdapterCalls): void {
  covered().set(agent, calls);
}

/** Covers an agent that a covered one has reached, unless it is covered. */
export function coverAgent(agent: LocalAgent, calls: AdapterCalls): void {
  if (!callsOf(agent)) rememberCovered(agent, calls);
}

/** Recorders of the current runs of agents without an intervention. */
const runs = processWide('@actlog/strands/covered-runs', () => new WeakMap<object, AdapterCalls>());

/** Agents with the hooks of this package. */
const hooked = processWide('@actlog/strands/hooked-agents', () => new WeakSet<object>());

/**
 * Decides what covers the run of an agent that is about to begin: its intervention, the call whose tool runs it, an
 * agent that has reached it, or the process, in this order.
 */
export function beginCoverage(agent: LocalAgent): void {
  const calls = ownCallsOf(agent) ? undefined : (callsAround() ?? callsOf(agent) ?? processCoverage.current);
  if (!calls) {
    runs().delete(agent);
    return;
  }
  runs().set(agent, calls);
  hookAgent(agent);
}

/** Hooks an agent at the positions of an intervention. */
function hookAgent(agent: LocalAgent): void {
  if (hooked().has(agent)) return;
  hooked().add(agent);
  const input = { order: HookOrder.INTERVENTION_INPUT };
  const output = { order: HookOrder.INTERVENTION_OUTPUT };
  const withCalls =
    <Event extends { readonly agent: LocalAgent }>(run: (event: Event, calls: AdapterCalls) => void) =>
    (event: Event) => {
      const calls = runs().get(event.agent);
      if (calls) run(event, calls);
    };
  agent.addHook(BeforeInvocationEvent, withCalls(beginCoveredRun), input);
  agent.addHook(BeforeModelCallEvent, withCalls(endBeforeModel), input);
  agent.addHook(BeforeToolCallEvent, withCalls(recordTool), input);
  agent.addHook(AfterToolCallEvent, withCalls(recordUnrun), output);
}

function beginCoveredRun({ agent }: BeforeInvocationEvent, calls: AdapterCalls): void {
  beginRun(agent);
  beginConversation(agent);
  rememberAgentTexts(agent, calls);
}

function endBeforeModel(event: BeforeModelCallEvent): void {
  rememberChatMessages(event.agent);
  const reason = endOfRun(event.agent);
  if (reason !== undefined) event.cancel = reason;
}

function recordTool(event: BeforeToolCallEvent, calls: AdapterCalls): void {
  recordChosenTool(event, calls, { coverAgentOf, leavesWrapped: true });
}

/** Covers the agent behind a tool, if there is one; its runs start with the tool's. */
export function coverAgentOf(tool: Tool, calls: AdapterCalls): void {
  const { agent } = tool as { readonly agent?: unknown };
  if (isLocalAgent(agent)) coverAgent(agent, calls);
}

/** `true` for agents that run in this process. */
export function isLocalAgent(value: unknown): value is LocalAgent {
  return typeof (value as Partial<LocalAgent> | null | undefined)?.addHook === 'function';
}
