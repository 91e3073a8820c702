import {
  type AdapterOptions as ActlogOptions,
  type AdapterCalls,
  type Method,
  MethodHooks,
  processWide,
  refuseOptions,
  type WithoutOptions,
} from '@actlog/recorder/adapter';
import {
  Agent,
  type AgentOutputType,
  attachClientToolSearchExecutor,
  type FunctionTool,
  type FunctionToolResult,
  getClientToolSearchExecutor,
  type Handoff,
  type HostedTool,
  type MCPServer,
  MCPServerSSE,
  MCPServerStdio,
  MCPServerStreamableHttp,
  Runner,
  type Tool,
  type ToolUseBehavior,
} from '@openai/agents';
import { withActions } from './actions.ts';
import { agentsCalls, coverage, processCoverage } from './agents-calls.ts';
import { inputGuardrail, type NamedCall, nameOf, outputGuardrail } from './guardrails.ts';
import { recordedRun } from './runs/recorded-run.ts';
import { currentPlace, currentRun, rememberInput, rememberRunTexts, runOf } from './runs/run-scope.ts';

/** Guardrails added to a tool. */
interface Hooks {
  readonly input: ReturnType<typeof inputGuardrail>;
  readonly output: ReturnType<typeof outputGuardrail>;
}

const hooked = processWide('@actlog/openai-agents/hooked', () => new WeakMap<object, Hooks>());

/** All hooks that were added. A copy of a tool, as created by `toolNamespace`, has the hooks of the original. */
const given = processWide('@actlog/openai-agents/given', () => new WeakSet<object>());

/**
 * Hooks a tool. It stays the same object, because the SDK and the user's hooks identify tools by reference; a frozen
 * tool is replaced by a copy.
 */
function hookTool<T extends Tool>(own: T): T {
  currentRun()?.toolNames.add(own.name);
  const tool = Object.isFrozen(own) ? { ...own } : own;
  if (tool.type === 'function') hookFunction(tool as unknown as FunctionTool);
  if (tool.type === 'shell' && 'shell' in tool && tool.shell && !given().has(tool.shell)) {
    tool.shell = register(withActions(tool.shell, tool.name, ['run']));
  }
  if (tool.type === 'apply_patch' && !given().has(tool.editor)) {
    tool.editor = register(withActions(tool.editor, tool.name, ['createFile', 'updateFile', 'deleteFile']));
  }
  const search = getClientToolSearchExecutor(own);
  if (search && !given().has(search)) {
    attachClientToolSearchExecutor(
      tool as HostedTool,
      register(async (args) => hookFound(await search(args))),
    );
  }
  return tool;
}

/** Hooks the tools found by a client search before the SDK uses them. */
function hookFound(found: Tool | Tool[] | null | undefined): Tool | Tool[] | null | undefined {
  if (Array.isArray(found)) return found.map(hookTool);
  return found ? hookTool(found) : found;
}

/** Remembers an added hook. */
function register<Hook extends object>(hook: Hook): Hook {
  given().add(hook);
  return hook;
}

/**
 * Adds the guardrails: the input guardrail last, because only what the user's guardrails allow is a call; the output
 * guardrail first.
 */
function hookFunction(tool: FunctionTool): void {
  let hooks = hooked().get(tool);
  if (!hooks) {
    hooks = { input: register(inputGuardrail(tool)), output: register(outputGuardrail(tool)) };
    hooked().set(tool, hooks);
    hookTimeout(tool);
  }
  const { input, output } = hooks;
  const isOwn = (guardrail: object) => !given().has(guardrail);
  if (tool.inputGuardrails?.at(-1) !== input) {
    tool.inputGuardrails = [...(tool.inputGuardrails ?? []).filter(isOwn), input];
  }
  if (tool.outputGuardrails?.[0] !== output) {
    tool.outputGuardrails = [output, ...(tool.outputGuardrails ?? []).filter(isOwn)];
  }
}

/** Hooks `timeoutErrorFunction`, the only place that shows a timeout with a custom message. */
function hookTimeout(tool: FunctionTool): void {
  const { timeoutErrorFunction } = tool;
  if (!timeoutErrorFunction || given().has(timeoutErrorFunction)) return;
  tool.timeoutErrorFunction = register((context, error, details) => {
    if (details?.toolCall) runOf(context).timedOut.add(details.toolCall.callId);
    return timeoutErrorFunction(context, error, details);
  });
}

/** Hooks the SDK's classes once: default runs, every runner, and agents inside tools all use them. */
function install(): void {
  hookedMethods.hook(Runner.prototype, 'run', recordedRun);
  // An agent may have tools of `getAllMcpTools` instead of the servers themselves.
  for (const { prototype } of [MCPServerSSE, MCPServerStdio, MCPServerStreamableHttp])
    hookMcpServer(prototype);
  hookTools(Agent.prototype);
  // The SDK asks for an agent's handoffs just before its tools, which its class may list itself.
  hookedMethods.hook(
    Agent.prototype,
    'getEnabledHandoffs',
    (agent: Agent, getEnabledHandoffs: Method<Promise<Handoff[]>>, args) => {
      hookTools(agent);
      return getEnabledHandoffs.apply(agent, args);
    },
  );
  hookedMethods.hook(
    Agent.prototype,
    'getSystemPrompt',
    async (agent, getSystemPrompt: Method<Promise<string | undefined>>, args) => {
      const instructions = await getSystemPrompt.apply(agent, args);
      const run = currentRun();
      if (run) await rememberRunTexts(run, agent, () => ({ system: [instructions] }));
      return instructions;
    },
  );
}

/** Hooks the tools of an agent and of all others that list them by the same function. */
function hookTools(agent: Pick<Agent, 'getAllTools'>): void {
  const owner = ownerOf(agent, 'getAllTools');
  if (!Object.getOwnPropertyDescriptor(owner, 'getAllTools')?.configurable) return;
  hookedMethods.hook(
    owner,
    'getAllTools',
    async (listed: Agent, getAllTools: Method<Promise<Tool[]>>, args) => {
      const tools = await getAllTools.apply(listed, args);
      const run = currentRun();
      if (run?.coveredByAgent) reachAgent(listed, run.coveredByAgent);
      if (run) keepDenialsFromOutput(listed);
      if (run && !run.hasSession) await run.sessionId(); // while the run's trace is available
      if (run) await rememberInput(run, listed);
      for (const server of listed.mcpServers) hookMcpServer(server);
      return tools.map(hookTool);
    },
  );
}

/** Returns the object that has a method: the agent itself, or the prototype of its class or of one that this extends. */
function ownerOf<Target extends object>(agent: Target, method: keyof Target): Target {
  let owner = agent;
  while (!Object.hasOwn(owner, method)) owner = Object.getPrototypeOf(owner);
  return owner;
}

/** Result of a server's call: the whole result, or its blocks, to which the SDK's servers add the rest. */
interface ServerResult {
  readonly isError?: boolean;
  readonly content?: unknown;
}

/** Remembers which calls of a server failed: hooks get the text of a result, but not that it is an error. */
function hookMcpServer(server: MCPServer): void {
  if (!Object.isExtensible(server)) return;
  for (const method of ['callTool', 'callToolResult'] as const) {
    if (typeof server[method] === 'function') hookedMethods.hook<MCPServer, unknown>(server, method, watch);
  }
}

async function watch(server: MCPServer, call: Method, args: unknown[]): Promise<unknown> {
  const { run, callId = '' } = currentPlace() ?? {};
  run?.mcpFailures.delete(callId); // the SDK may repeat a call
  try {
    const result = (await call.apply(server, args)) as ServerResult;
    if (result?.isError) {
      const content = Array.isArray(result) ? result : result.content;
      run?.mcpFailures.set(callId, { ok: true, result: { isError: true, content } });
    }
    return result;
  } catch (error) {
    run?.mcpFailures.set(callId, { ok: false, error });
    throw error;
  }
}

type BehaviorFunction = Extract<ToolUseBehavior, (...args: never[]) => unknown>;
type Finality = Awaited<ReturnType<BehaviorFunction>>;

/** An agent whose output may be the result of a tool. */
interface OutputAgent {
  readonly outputType?: AgentOutputType | undefined;
  toolUseBehavior: ToolUseBehavior;
}

const notFinal: Finality = { isFinalOutput: false, isInterrupted: undefined };

const guarded = new WeakSet<object>();

/**
 * Makes the model continue after a denial in a run that would use a tool's result as its typed output: the denial's
 * text does not match the type, and the SDK would end the run with a `ModelBehaviorError`. An agent without a type ends
 * with the text as its output, as configured by the user.
 */
function keepDenialsFromOutput(agent: OutputAgent): void {
  const own = Object.getOwnPropertyDescriptor(agent, 'toolUseBehavior');
  if (guarded.has(agent) || !own?.configurable || !('value' in own)) return;
  guarded.add(agent);
  let behavior: ToolUseBehavior = own.value;
  Object.defineProperty(agent, 'toolUseBehavior', {
    configurable: true,
    enumerable: true,
    get: () => {
      const denied = currentRun()?.denied;
      const isTyped = agent.outputType !== undefined && agent.outputType !== 'text';
      const isKept = isTyped && behavior !== 'run_llm_again' && denied && denied.size > 0;
      return isKept ? withoutDenials(behavior, denied) : behavior;
    },
    set: (value: ToolUseBehavior) => {
      behavior = value;
    },
  });
}

/** Returns the behavior for a turn with denied calls: none of their results is final. */
function withoutDenials(behavior: ToolUseBehavior, denied: ReadonlySet<string>): BehaviorFunction {
  return async (context, results) => {
    const isDenied = ({ runItem }: FunctionToolResult) =>
      denied.has(String((runItem.rawItem as { callId?: unknown }).callId));
    if (typeof behavior === 'function') {
      const kept = results.filter((result) => !isDenied(result));
      return kept.length > 0 ? behavior(context, kept) : notFinal;
    }
    if (typeof behavior === 'string') return finalityOf(results.at(0), isDenied);
    const stops = (result: FunctionToolResult) => {
      const names = [result.tool.name, nameOf(result.runItem.rawItem as NamedCall)];
      return !isDenied(result) && behavior.stopAtToolNames.some((name) => names.includes(name));
    };
    return finalityOf(results.find(stops), isDenied);
  };
}

function finalityOf(
  result: FunctionToolResult | undefined,
  isDenied: (result: FunctionToolResult) => boolean,
): Finality {
  if (result?.type !== 'function_output' || isDenied(result)) return notFinal;
  const { output } = result;
  const finalOutput = typeof output === 'string' ? output : JSON.stringify(output);
  return { isFinalOutput: true, isInterrupted: undefined, finalOutput };
}

/** Agents of every context and output. */
// biome-ignore lint/suspicious/noExplicitAny: the variance of the SDK's type requires it
type AnyAgent = Agent<any, any>;

/**
 * Records every tool call of an agent, and guards it if the recorder's guard is on:
 *
 * ```ts
 * const agent = actlog(new Agent({ name: 'support', model, tools }));
 * ```
 *
 * This covers the agent itself, its handoffs and the agents among its tools, with any runner. Agents that it has
 * reached stay covered in later runs, such as `run(result.lastAgent, result.history)`. `actlog(runner)` covers
 * everything that a runner runs, and `actlog.install()` the whole process. If several cover a call, the nearest applies:
 * the agent of the call, then the agent that the run started with, then its runner, the outer run, the agent that
 * reached this one, and the process. Of several calls for the same target, the last applies.
 *
 * @returns the same agent or runner
 * @throws TypeError when it is an agent or a runner of another copy of `@openai/agents`, or neither
 * @throws when no recorder is given and the environment does not configure one; see `sharedRecorder`
 */
function recordTarget<Target extends AnyAgent | Runner>(
  target: Target & WithoutOptions,
  options?: ActlogOptions,
): Target {
  if (target instanceof Agent || target instanceof Runner) {
    install();
    refuseOptions(target, 'actlog(agent, { guard })');
    const calls = agentsCalls(options ?? {});
    if (target instanceof Agent) coverAgent(target, calls);
    else coverage().runners.set(target, calls);
    return target;
  }
  const given: unknown = target;
  if (typeof given === 'object' && given !== null && ('getAllTools' in given || 'run' in given)) {
    throw new TypeError(
      'The agent or runner belongs to another copy of @openai/agents. Install only one version, ' +
        'and load it with `import`: `require` loads a separate copy.',
    );
  }
  throw new TypeError(
    'actlog: the first argument must be an agent or a runner, as in actlog(agent, { guard }). ' +
      'actlog.install({ guard }) covers the whole process.',
  );
}

/** Covers the whole process, for `actlog.install()`. */
function installForProcess(options: ActlogOptions = {}): () => void {
  const calls = agentsCalls(options);
  install();
  return processCoverage.install(calls);
}

export const actlog: typeof recordTarget & {
  /**
   * Covers the whole process: records and guards the calls of all agents that nothing nearer covers. Of several installs,
   * the last one applies.
   *
   * Returns a function that ends the coverage.
   */
  readonly install: typeof installForProcess;
} = Object.assign(recordTarget, { install: installForProcess });

/** An agent of any context and output. */
interface ReachableAgent {
  readonly clone: (config: never) => unknown;
  readonly getAllTools: Agent['getAllTools'];
  /** Agents, and handoffs that refer to one. */
  readonly handoffs: readonly unknown[];
}

/** Covers an agent, its clones, and the agents that it hands over to. */
function coverAgent(agent: ReachableAgent, calls: AdapterCalls): void {
  coverage().agents.set(agent, calls);
  hookClone(agent);
  hookTools(agent);
  reachHandoffs(agent, calls, new Set([agent]));
}

/**
 * Covers an agent that a covered agent has reached, also in later runs: the SDK's examples continue with
 * `run(result.lastAgent, result.history)`.
 */
function reachAgent(agent: ReachableAgent, calls: AdapterCalls): void {
  reach(agent, calls, new Set());
}

function reach(agent: ReachableAgent, calls: AdapterCalls, visited: Set<ReachableAgent>): void {
  if (visited.has(agent)) return;
  visited.add(agent);
  const { agents, reached } = coverage();
  if (!agents.has(agent)) {
    reached.set(agent, calls);
    hookClone(agent);
    hookTools(agent);
  }
  reachHandoffs(agent, agents.get(agent) ?? calls, visited);
}

function reachHandoffs(
  { handoffs }: ReachableAgent,
  calls: AdapterCalls,
  visited: Set<ReachableAgent>,
): void {
  for (const handoff of Array.isArray(handoffs) ? handoffs : []) {
    const agent: unknown = isAgent(handoff) ? handoff : (handoff as { agent?: unknown } | undefined)?.agent;
    if (isAgent(agent)) reach(agent, calls, visited);
  }
}

function isAgent(value: unknown): value is ReachableAgent {
  return (
    typeof value === 'object' &&
    value !== null &&
    'handoffs' in value &&
    'clone' in value &&
    'getAllTools' in value
  );
}

/** Covers clones of agents like the originals, so that a copy with other instructions does not bypass the guard. */
function hookClone(agent: ReachableAgent): void {
  // Some kinds of agents, such as sandbox agents, override `clone`.
  const kind = ownerOf(agent, 'clone');
  hookedMethods.hook(kind, 'clone', (cloned: ReachableAgent, clone: Method<ReachableAgent>, args) => {
    const copy = clone.apply(cloned, args);
    const { agents, reached } = coverage();
    const own = agents.get(cloned);
    const fromOther = reached.get(cloned);
    if (own) coverAgent(copy, own);
    else if (fromOther) reachAgent(copy, fromOther);
    return copy;
  });
}

/** Methods of the SDK's classes that this package replaces. */
export const hookedMethods: MethodHooks = new MethodHooks('@actlog/openai-agents/hooked-methods');
