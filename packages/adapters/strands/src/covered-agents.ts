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
import { recordChosenTool } from './chosen-tool.ts';
import { beginRun, endOfRun } from './denied-runs.ts';
import { recordUnrun } from './finished-call.ts';
import { noteAgentTexts } from './shown-texts.ts';

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

/** Returns the recorder of an agent: that of its own intervention, else that of an agent that reached it. */
export function callsOf(agent: object): AdapterCalls | undefined {
  const handlers = (agent as WithInterventions)._interventionRegistry?._handlers ?? [];
  const own = handlers.find((handler) => handler[interventionCalls] !== undefined);
  return own?.[interventionCalls] ?? covered().get(agent);
}

/** Notes that an agent has run with its own intervention. */
export function noteCovered(agent: object, calls: AdapterCalls): void {
  covered().set(agent, calls);
}

/**
 * Covers an agent that a covered one has reached, unless it is covered. Uses hooks at the positions of an intervention.
 */
export function coverAgent(agent: LocalAgent, calls: AdapterCalls): void {
  if (callsOf(agent)) return;
  noteCovered(agent, calls);
  const input = { order: HookOrder.INTERVENTION_INPUT };
  const output = { order: HookOrder.INTERVENTION_OUTPUT };
  agent.addHook(BeforeInvocationEvent, (event) => beginCoveredRun(event.agent, calls), input);
  agent.addHook(BeforeModelCallEvent, endBeforeModel, input);
  agent.addHook(BeforeToolCallEvent, (event) => recordChosenTool(event, calls, coverAgentOf), input);
  agent.addHook(AfterToolCallEvent, (event) => recordUnrun(event, calls), output);
}

function beginCoveredRun(agent: LocalAgent, calls: AdapterCalls): void {
  beginRun(agent);
  noteAgentTexts(agent, calls);
}

function endBeforeModel(event: BeforeModelCallEvent): void {
  const reason = endOfRun(event.agent);
  if (reason !== undefined) event.cancel = reason;
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
