import { responseStatuses, type ToolOutcome } from '@actlog/recorder';
import { type AdapterCalls, MethodHooks, processWide } from '@actlog/recorder/adapter';
import { AgentRun, callsAround, currentRun, hookedCall, within } from './agent-runs.ts';
import type { PiAgent, PiEvent, PiTool } from './pi-agent.ts';
import { viewTools } from './recorded-tools.ts';

const hooks = new MethodHooks('@actlog/pi-agent-core/hooked-methods');

/** Recorders of agents with their own `actlog()`. */
const ownCalls = processWide('@actlog/pi-agent-core/own-calls', () => new WeakMap<PiAgent, AdapterCalls>());

/** Agents that the adapter listens to. */
const hooked = processWide('@actlog/pi-agent-core/hooked-agents', () => new WeakSet<PiAgent>());

/** Covers the runs of an agent from now on. */
export function coverAgent(agent: PiAgent, calls: AdapterCalls): void {
  ownCalls().set(agent, calls);
  hookRuns(agent);
}

/** Hooks the runs of all agents of the same class, so that agents inside tools are noticed. */
function hookRuns(agent: PiAgent): void {
  const prototype = baseWith(agent, 'prompt');
  for (const method of ['prompt', 'continue'] as const) {
    hooks.hook(prototype, method, (target: PiAgent, original, args) =>
      within({ run: beginRun(target) }, () => original.apply(target, args)),
    );
  }
}

/** Returns the prototype nearest to `Object` that has a method: that of the class which others extend. */
function baseWith(agent: PiAgent, method: 'prompt'): PiAgent {
  let base = agent;
  for (let next: object | null = agent; next; next = Object.getPrototypeOf(next) as object | null)
    if (Object.hasOwn(next, method)) base = next as PiAgent;
  return base;
}

/**
 * Decides what covers the run of an agent that is about to begin: its own `actlog()`, else the call whose tool runs it.
 */
function beginRun(agent: PiAgent): AgentRun | undefined {
  const calls = ownCalls().get(agent) ?? callsAround();
  if (!calls) return undefined;
  hookAgent(agent);
  return new AgentRun(agent, calls);
}

function hookAgent(agent: PiAgent): void {
  if (hooked().has(agent)) return;
  hooked().add(agent);
  showViews(agent.state);
  agent.subscribe((event) => hear(event as PiEvent));
}

/** Shows views of the tools to whoever reads them, as pi does at the start of each run. */
function showViews(state: PiAgent['state']): void {
  const own = Object.getOwnPropertyDescriptor(state, 'tools');
  if (!own?.get) return;
  const get = () => {
    const tools = own.get?.call(state) as PiTool[];
    viewTools(tools);
    return tools;
  };
  Object.defineProperty(state, 'tools', { ...own, get });
}

function hear(event: PiEvent): void {
  const run = currentRun();
  if (!run) return;
  if (event.type === 'turn_start' && run.denied.reason !== undefined) throw new Error(run.denied.reason);
  if (event.type === 'tool_execution_start') run.noteArguments(event.toolCallId, event.args);
  if (event.type === 'tool_execution_end') recordUnrun(run, event);
}

/** Records a call that did not reach a tool, from pi's report of it. */
function recordUnrun(run: AgentRun, event: PiEvent & { type: 'tool_execution_end' }): void {
  const { toolCallId: callId, toolName } = event;
  const { hasRun, isInvalid, arguments: args } = run.end(callId);
  if (hasRun || !run.calls.covers(toolName)) return;
  const call = hookedCall(run, { toolName, callId, arguments: args });
  const status = isInvalid ? responseStatuses.invalidArguments : statusOfUnrun(event, call.signal);
  const error = Object.assign(new Error('The tool did not run.'), { status });
  const outcome: ToolOutcome = event.isError ? { ok: false, error } : { ok: true, result: event.result };
  run.calls.record(call, outcome);
}

/**
 * Returns the status of a call whose tool did not run, from pi's text for the model; undefined for one that was aborted.
 * Any other text is that of a hook of the application, which has blocked the call.
 */
function statusOfUnrun(
  { toolName, result, durationMs }: PiEvent & { type: 'tool_execution_end' },
  signal: AbortSignal | undefined,
): number | undefined {
  const { content } = result as { readonly content?: readonly { readonly text?: unknown }[] };
  const text = String(content?.[0]?.text);
  if (text === `Tool ${toolName} not found`) return responseStatuses.unknownTool;
  const isInvalid =
    text.startsWith(`Validation failed for tool "${toolName}":`) ||
    text.startsWith(`Invalid arguments for tool "${toolName}":`) ||
    text.startsWith(`Tool call "${toolName}" was not executed:`); // the model's output was cut off
  if (isInvalid) return responseStatuses.invalidArguments;
  if (durationMs !== undefined) return responseStatuses.threw; // a tool that only a hook of the application knows
  return signal?.aborted ? undefined : responseStatuses.denied;
}
