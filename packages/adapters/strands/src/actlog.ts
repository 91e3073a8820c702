import {
  type AdapterCalls,
  type AdapterOptions,
  type Method,
  MethodHooks,
  ownName,
  processWide,
  refuseOptions,
  stepwise,
  withMethods,
} from '@actlog/recorder/adapter';
import {
  type AfterToolCallEvent,
  Agent,
  type BeforeInvocationEvent,
  type BeforeModelCallEvent,
  type BeforeToolCallEvent,
  Graph,
  InterventionActions,
  InterventionHandler,
  type LocalAgent,
  Swarm,
  type Tool,
  type ToolContext,
  type ToolList,
} from '@strands-agents/sdk';
import { beginConversation, inSession, rememberChatMessages, sessionOfRun } from './agent-identity.ts';
import {
  beginRun,
  callsAround,
  endOfRun,
  isWrapped,
  processCoverage,
  recordChosenTool,
  recordedStream,
  rememberWrapped,
  withinCall,
} from './chosen-tool.ts';
import {
  beginCoverage,
  callsOf,
  coverAgent,
  coverAgentOf,
  interventionCalls,
  isLocalAgent,
  recordUnrun,
  rememberCovered,
} from './covered-agents.ts';
import {
  hookedCall,
  rememberAgentTexts,
  rememberInput,
  rememberNodes,
  strandsCalls,
} from './strands-calls.ts';

/** Methods of the SDK's classes that this package replaces. */
const hookedMethods: MethodHooks = new MethodHooks('@actlog/strands/hooked-methods');

/** Hooks the classes of Strands, each once in the process. */
function hookStrands(): void {
  // Every run of an agent begins with this method, before any of its hooks.
  hookedMethods.hook(
    Agent.prototype,
    'initialize',
    (agent: Agent, initialize: Method<Promise<void>>, args) => {
      beginCoverage(agent);
      return initialize.apply(agent, args);
    },
  );
  hookDirectCalls();
  hookOrchestrators();
}

/** Registry of an agent's tools; the oldest Strands versions have no `resolve`, and no direct calls. */
interface ToolRegistry {
  resolve?(name: string): Tool;
}

const hookedClasses = processWide('@actlog/strands/direct-calls', () => new WeakSet<object>());

/**
 * Hooks direct calls of an agent's tools, such as `agent.tool.search.invoke()`, which call no hooks. Strands does not
 * export the class of the registry, in which it looks up their tools and no others.
 */
function hookDirectCalls(): void {
  const { prototype } = Agent;
  const get = Object.getOwnPropertyDescriptor(prototype, 'toolRegistry')?.get as
    | (() => ToolRegistry)
    | undefined;
  if (!get || hookedClasses().has(prototype)) return;
  hookedClasses().add(prototype);
  const hooked = function (this: Agent) {
    const registry = get.call(this);
    hookRegistries(Object.getPrototypeOf(registry) as ToolRegistry);
    return registry;
  };
  Object.defineProperty(prototype, 'toolRegistry', { configurable: true, get: hooked });
}

function hookRegistries(prototype: ToolRegistry): void {
  if (typeof prototype.resolve !== 'function') return;
  hookedMethods.hook(prototype as Required<ToolRegistry>, 'resolve', (registry: object, resolve, args) =>
    directTool((resolve as Method<Tool>).apply(registry, args)),
  );
}

function directTool(tool: Tool): Tool {
  return withMethods(tool, {
    stream: (context: ToolContext) => {
      const calls = callsOf(context.agent) ?? callsAround() ?? processCoverage.current;
      if (!calls) return tool.stream(context);
      coverAgentOf(tool, calls);
      const isRecorded = calls.covers(tool.name) && !isWrapped(tool);
      return isRecorded ? recordedStream(tool, calls, context) : tool.stream(context);
    },
  });
}

type Stream = AsyncGenerator<unknown, unknown, undefined>;

/** An orchestrator of agents: a swarm, a graph, or a nested one. */
interface Orchestrator {
  readonly id?: unknown;
  readonly nodes: ReadonlyMap<string, { readonly agent?: unknown; readonly orchestrator?: unknown }>;
}

/**
 * Makes a swarm or graph cover all its agents like its first covered one, before any of them runs. They hand over to
 * each other without calling hooks.
 */
function hookOrchestrators(): void {
  for (const { prototype } of [Swarm, Graph]) {
    hookedMethods.hook(
      prototype,
      'initialize',
      (orchestrator: Orchestrator, initialize: Method<Promise<void>>) => {
        coverNodes(orchestrator);
        return initialize.call(orchestrator);
      },
    );
    hookedMethods.hook(prototype, 'stream', (orchestrator: Orchestrator, stream: Method<Stream>, args) => {
      const sessionId = sessionOfRun(orchestrator, args[0]);
      inSession(sessionId, () => rememberRun(orchestrator, args[0]));
      return stepwise(stream.apply(orchestrator, args), (step) => inSession(sessionId, step));
    });
  }
}

function coverNodes(orchestrator: Orchestrator): void {
  const agents = [...agentsOf(orchestrator)];
  const calls = agents.map(callsOf).find((known) => known !== undefined);
  if (calls) for (const agent of agents) coverAgent(agent, calls);
}

/** Remembers the input of a run for argument origins, because it reaches the nodes mixed with what models wrote. */
function rememberRun(orchestrator: Orchestrator, input: unknown): void {
  const agents = [...agentsOf(orchestrator)];
  const all = [...agents.map(callsOf), callsAround(), processCoverage.current];
  const calls = all.find((known) => known?.tracesOrigins);
  if (!calls) return;
  rememberNodes(agents);
  rememberNodes(orchestratorsIn(orchestrator));
  rememberInput(orchestrator, input, agents, calls);
}

function* orchestratorsIn({ nodes }: Orchestrator): Generator<Orchestrator> {
  for (const { orchestrator } of nodes.values()) {
    if (!isOrchestrator(orchestrator)) continue;
    yield orchestrator;
    yield* orchestratorsIn(orchestrator);
  }
}

function* agentsOf({ nodes }: Orchestrator): Generator<LocalAgent> {
  for (const { agent, orchestrator } of nodes.values()) {
    if (isLocalAgent(agent)) yield agent;
    if (isOrchestrator(orchestrator)) yield* agentsOf(orchestrator);
  }
}

function isOrchestrator(value: unknown): value is Orchestrator {
  return (value as Partial<Orchestrator> | undefined)?.nodes instanceof Map;
}

/** Creates the intervention behind `actlog()`. */
function recordIntervention(options: AdapterOptions = {}): InterventionHandler {
  return new RecordIntervention(options);
}

/**
 * Records a call when its tool runs, and others from Strands' report. The guard checks the call just before the tool
 * runs, when other interventions have finished and the arguments are final.
 */
class RecordIntervention extends InterventionHandler {
  /** Unique name, because Strands rejects two interventions with the same name, and an agent with two should work. */
  override readonly name = ownName('strands');
  readonly [interventionCalls]: AdapterCalls;

  constructor(options: AdapterOptions) {
    super();
    this[interventionCalls] = strandsCalls(options);
    hookStrands();
  }

  override beforeInvocation({ agent }: BeforeInvocationEvent) {
    rememberCovered(agent, this[interventionCalls]);
    beginRun(agent);
    beginConversation(agent);
    rememberAgentTexts(agent, this[interventionCalls]);
    return InterventionActions.proceed();
  }

  /** Strands has no default limit on turns: a model that repeats a denied call would be called forever. */
  override beforeModelCall({ agent }: BeforeModelCallEvent) {
    rememberChatMessages(agent);
    const reason = endOfRun(agent);
    return reason === undefined ? InterventionActions.proceed() : InterventionActions.deny(reason);
  }

  override beforeToolCall(event: BeforeToolCallEvent) {
    recordChosenTool(event, this[interventionCalls], { coverAgentOf });
    return InterventionActions.proceed();
  }

  override afterToolCall(event: AfterToolCallEvent) {
    recordUnrun(event, this[interventionCalls]);
    return InterventionActions.proceed();
  }
}

/**
 * Records every tool call of an agent, and guards it if the recorder's guard is on:
 *
 * ```ts
 * const agent = new Agent({ model, tools, interventions: [actlog()] });
 * ```
 *
 * Covers also agents that this one uses as tools, that its tools run, and that share a swarm or a graph with it.
 * `actlog.install()` covers all agents of the process. Calls without an agent, such as `search.invoke()`, bypass both:
 * `actlog.tools(tools)` wraps the tools themselves. If several cover a call, the nearest applies: a wrapped tool, the
 * agent's intervention, the call whose tool runs the agent, the agent that reached it, the process.
 *
 * @throws when no recorder is given and the environment does not configure one; see `sharedRecorder`
 */
export const actlog: typeof recordIntervention & {
  /**
   * Covers the whole process: records and guards the calls of all agents that nothing nearer covers, in their next runs,
   * also of those that exist already. Of several installs, the last one applies.
   *
   * Returns a function that ends the coverage; runs that have begun end as they began.
   */
  readonly install: typeof installForProcess;
  /** Wraps tools, so that manual calls are recorded and guarded too. */
  readonly tools: typeof recordTools;
} = Object.assign(recordIntervention, { install: installForProcess, tools: recordTools });

/** Covers the whole process, for `actlog.install()`. */
function installForProcess(options: AdapterOptions = {}): () => void {
  const calls = strandsCalls(options);
  hookStrands();
  return processCoverage.install(calls);
}

/** Wraps tools for `actlog.tools()`: the same tools, of the same types. Agents and MCP clients are unchanged. */
function recordTools<const Tools extends Readonly<ToolList>>(
  tools: Tools,
  options: AdapterOptions = {},
): { -readonly [Index in keyof Tools]: Tools[Index] } {
  refuseOptions(tools, 'actlog.tools(tools, { guard })');
  const calls = strandsCalls(options);
  hookStrands();
  return tools.map((entry) => recordedEntry(entry, calls)) as {
    -readonly [Index in keyof Tools]: Tools[Index];
  };
}

function recordedEntry(entry: ToolList[number], calls: AdapterCalls): ToolList[number] {
  if (Array.isArray(entry)) return entry.map((inner) => recordedEntry(inner, calls));
  return isTool(entry) && calls.covers(entry.name) ? wrapped(entry, calls) : entry;
}

/** Agents also have `stream`, but no description for the model. */
function isTool(entry: object): entry is Tool {
  return 'toolSpec' in entry && typeof (entry as Partial<Tool>).stream === 'function';
}

type Invoke = (input: unknown, context?: ToolContext) => unknown;

interface WithInvoke {
  readonly invoke?: Invoke;
}

function wrapped(tool: Tool & WithInvoke, calls: AdapterCalls): Tool {
  const { invoke } = tool;
  const view = withMethods(tool, {
    stream: (context: ToolContext) => recordedStream(tool, calls, context),
    ...(invoke && { invoke: recordedInvoke(tool, invoke, calls) }),
  });
  rememberWrapped(view);
  return view;
}

function recordedInvoke(tool: Tool, invoke: Invoke, calls: AdapterCalls): Invoke {
  const wrapper: Invoke = (input, context) => {
    const known = context && hookedCall(context, calls);
    const wrapping = { wrapper, wrapped: invoke };
    const call = { ...known, toolName: tool.name, arguments: input, wrapping, acceptsChanges: true };
    const covered = { calls, agent: context?.agent };
    return calls.run(call, (args) => withinCall(covered, () => invoke.call(tool, args, context)));
  };
  return wrapper;
}
