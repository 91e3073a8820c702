import { ActionDeniedError, responseStatuses, type ToolOutcome } from '@actlog/recorder';
import {
  AdapterCalls,
  type AdapterOptions,
  type HookedCall,
  MethodHooks,
  processWide,
  refuseOptions,
  toolContent,
  type WithoutOptions,
  withMethods,
} from '@actlog/recorder/adapter';
import {
  AgentRun,
  callsAround,
  countDenial,
  currentRun,
  hookedCall,
  isPiAgent,
  type PiAgent,
  type PiEvent,
  type PiTool,
  within,
} from './agent-runs.ts';

/** Version of this package; the release writes it. */
export const version = '0.0.0';

type Execute = (
  toolCallId: string,
  params: unknown,
  signal?: AbortSignal,
  onUpdate?: unknown,
) => Promise<unknown>;

/** Tools and their views. */
const views = processWide('@actlog/pi-agent-core/views', () => new WeakMap<PiTool, PiTool>());

/** Views of tools. */
const isView = processWide('@actlog/pi-agent-core/is-view', () => new WeakSet<PiTool>());

/** Puts views in the place of tools. In a covered run they record its calls, elsewhere they do nothing. */
function viewTools(tools: PiTool[]): void {
  for (const [place, tool] of tools.entries()) if (!isView().has(tool)) tools[place] = viewOf(tool);
}

function viewOf(tool: PiTool): PiTool {
  const known = views().get(tool);
  if (known) return known;
  const { prepareArguments } = tool as { prepareArguments?: (args: unknown) => unknown };
  const prepare = (args: unknown) => {
    try {
      return prepareArguments?.call(tool, args);
    } catch (error) {
      currentRun()?.rememberInvalid(args);
      throw error;
    }
  };
  const methods = { execute: recordedInRun(tool), ...(prepareArguments && { prepareArguments: prepare }) };
  const view = withMethods(tool, methods, 'class-methods');
  views().set(tool, view);
  isView().add(view);
  return view;
}

function recordedInRun(tool: PiTool): Execute {
  return (callId, params, signal, onUpdate) => {
    const run = currentRun();
    const proceed = (given: unknown) => executeOf(tool)(callId, given as typeof params, signal, onUpdate);
    if (!run) return proceed(params);
    run.rememberRan(callId);
    if (!run.calls.covers(tool.name)) return within({ run, calls: run.calls }, () => proceed(params));
    const call = hookedCall(run, { toolName: tool.name, callId, arguments: params, signal });
    return recorded(call, { run, calls: run.calls }, proceed);
  };
}

/** Wraps tools for `actlog.tools()`: the same tools, of the same types. */
function recordTools<const Tools extends readonly PiTool[]>(
  tools: Tools,
  options: AdapterOptions = {},
): { -readonly [Index in keyof Tools]: Tools[Index] } {
  refuseOptions(tools, 'actlog.tools(tools, { guard })');
  const calls = piCalls(options);
  return tools.map((tool) => (calls.covers(tool.name) ? wrapped(tool, calls) : tool)) as {
    -readonly [Index in keyof Tools]: Tools[Index];
  };
}

function wrapped(tool: PiTool, calls: AdapterCalls): PiTool {
  const execute: Execute = (callId, params, signal, onUpdate) => {
    const call = { toolName: tool.name, arguments: params, callId, signal };
    return recorded(call, { run: currentRun(), calls }, (given) =>
      executeOf(tool)(callId, given as typeof params, signal, onUpdate),
    );
  };
  return withMethods(tool, { execute }, 'class-methods');
}

function executeOf(tool: PiTool): Execute {
  return tool.execute.bind(tool) as Execute;
}

/** Runs a tool, recorded and guarded. Throws a denial, which pi converts to an error result for the model. */
async function recorded(
  call: HookedCall,
  place: { readonly run: AgentRun | undefined; readonly calls: AdapterCalls },
  proceed: (args: unknown) => Promise<unknown>,
): Promise<unknown> {
  const { run, calls } = place;
  try {
    return await calls.run({ ...call, acceptsChanges: true }, (args) => {
      run?.denied.letThrough(call.toolName);
      return within(place, () => proceed(args));
    });
  } catch (error) {
    if (run && ActionDeniedError.isInstance(error)) countDenial(run, call, error);
    throw error;
  }
}

const hooks = new MethodHooks('@actlog/pi-agent-core/hooked-methods');

/** Recorders of agents with their own `actlog()`. */
const ownCalls = processWide('@actlog/pi-agent-core/own-calls', () => new WeakMap<PiAgent, AdapterCalls>());

/** Agents that the adapter listens to. */
const hooked = processWide('@actlog/pi-agent-core/hooked-agents', () => new WeakSet<PiAgent>());

/** Covers the runs of an agent from now on. */
function coverAgent(agent: PiAgent, calls: AdapterCalls): void {
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

/** Returns the prototype of the base class: the nearest to `Object` that has a method. */
function baseWith(agent: PiAgent, method: 'prompt'): PiAgent {
  let base = agent;
  for (let next: object | null = agent; next; next = Object.getPrototypeOf(next) as object | null)
    if (Object.hasOwn(next, method)) base = next as PiAgent;
  return base;
}

/**
 * Decides what covers the run of an agent that is about to begin: its `actlog()`, otherwise the call whose tool runs
 * it.
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

/** Replaces the tools with views for every reader, such as pi at the start of each run. */
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
  if (event.type === 'tool_execution_start') run.rememberArguments(event.toolCallId, event.args);
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
 * Returns the status of a call whose tool did not run, from pi's text for the model; undefined if it was aborted. Any
 * other text comes from a hook of the application that blocked the call.
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

function recordAgent<Instance extends PiAgent>(
  agent: Instance & WithoutOptions<'sessionId'>,
  options: AdapterOptions = {},
): Instance {
  if (!isPiAgent(agent)) {
    throw new TypeError(
      'actlog: the first argument must be an Agent of pi-agent-core: pass actlog(new Agent({ … }), { guard }).',
    );
  }
  const isOwn = (_value: unknown, name: string) => name === 'sessionId';
  refuseOptions(agent, 'actlog(agent, { guard })', isOwn);
  coverAgent(agent, piCalls(options));
  return agent;
}

/**
 * Records every tool call of an agent, and guards it if the recorder's guard is on:
 *
 * ```ts
 * const agent = actlog(new Agent({ initialState: { model, tools }, streamFn }));
 * ```
 *
 * Agents that its tools run are covered too. An agent with its own `actlog()` keeps it. Of several calls for one agent,
 * the last applies to its next runs. For loops without an agent, such as `agentLoop`, `actlog.tools(tools)` wraps the tools.
 *
 * @returns the same agent
 * @throws when no recorder is given and the environment does not configure one; see `sharedRecorder`
 */
export const actlog: typeof recordAgent & {
  /** Wraps tools for loops without an agent. Covers the calls that reach a tool. */
  readonly tools: typeof recordTools;
} = Object.assign(recordAgent, { tools: recordTools });

/** Creates the `AdapterCalls` of this adapter. */
function piCalls(options: AdapterOptions): AdapterCalls {
  return new AdapterCalls(
    {
      framework: 'pi-agent-core',
      sdk: `@actlog/pi-agent-core/${version}`,
      form: 'actlog(agent, { guard }) or actlog.tools(tools, { guard })',
      resultOf: shownResult,
    },
    options,
  );
}

/** Returns what the model sees of a result: its text, without `details`. */
function shownResult(result: unknown): unknown {
  const { content } = (result ?? {}) as { readonly content?: unknown };
  return Array.isArray(content) ? toolContent({ content }) : result;
}
