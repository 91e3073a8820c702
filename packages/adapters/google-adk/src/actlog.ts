import { responseStatuses, type ToolOutcome } from '@actlog/recorder';
import {
  type AdapterCalls,
  type AdapterOptions,
  type Method,
  MethodHooks,
  noteTexts,
  ownName,
  stepwise,
} from '@actlog/recorder/adapter';
import {
  type BaseAgent,
  BasePlugin,
  type BaseTool,
  type Context,
  type Event,
  type InvocationContext,
  isLlmAgent,
  type LlmResponse,
  Runner,
} from '@google/adk';
import {
  awaitsInput,
  googleAdkCalls,
  invocationsAround,
  processCoverage,
  surroundingRuns,
  surroundings,
  within,
} from './google-adk-calls.ts';
import { endOfRun, hasRun, recordRun } from './recorded-tool.ts';

type Code = NonNullable<Part['executableCode']>;
type CodeResult = NonNullable<Part['codeExecutionResult']>;

/** Code whose result comes in a later response of the stream. */
const running = new WeakMap<InvocationContext, Code[]>();

const found = new WeakMap<LlmResponse, readonly ResponseCall[]>();

/** Returns the calls of a response that the model's provider ran: code, and searches that the response is based on. */
function providerCalls(context: InvocationContext, response: LlmResponse): readonly ResponseCall[] {
  const known = found.get(response);
  if (known) return known;
  const code = (response.content?.parts ?? []).flatMap((part) => codeCalls(context, part));
  const calls = [...code, ...searches(response.groundingMetadata)];
  found.set(response, calls);
  return calls;
}

function searches(metadata: LlmResponse['groundingMetadata']): ResponseCall[] {
  const queries = metadata?.webSearchQueries;
  if (!metadata || !queries?.length) return [];
  const outcome = { ok: true, result: undefined } as const;
  return [{ toolName: 'google_search', arguments: { queries }, outcome, source: metadata }];
}

function codeCalls(
  context: InvocationContext,
  { executableCode, codeExecutionResult }: Part,
): ResponseCall[] {
  const waiting = running.get(context) ?? [];
  running.set(context, waiting);
  if (executableCode) waiting.push(executableCode);
  if (!codeExecutionResult) return [];
  const { language, code } = waiting.shift() ?? {};
  const outcome = codeOutcome(codeExecutionResult);
  return [
    { toolName: 'code_execution', arguments: { language, code }, outcome, source: codeExecutionResult },
  ];
}

/** Maps the names of Gemini's `CodeExecutionResult.Outcome`. */
function codeOutcome({ outcome, output }: CodeResult): ToolOutcome {
  if (outcome === 'OUTCOME_OK') return { ok: true, result: output };
  return outcome === 'OUTCOME_DEADLINE_EXCEEDED'
    ? failed(responseStatuses.timedOut, 'The code took too long.')
    : failed(responseStatuses.threw, 'The code failed.');
}

/** Symbol on the plugins of this package. */
const recordsCalls: unique symbol = Symbol.for('@actlog/google-adk/records-calls') as never;

const methods = new MethodHooks('@actlog/google-adk/runner-methods');

/** The used part of a runner. */
interface PluginRunner {
  /** Its list of plugins has no public accessor. */
  readonly pluginManager: { readonly plugins?: ReadonlySet<BasePlugin> };
}

type Run = AsyncGenerator<unknown, void, undefined>;

/**
 * Hooks all runners, so that a run has the plugins of the run or call whose code starts it, otherwise of the process. A
 * runner with a plugin of this package keeps that.
 */
function hookRunners(): void {
  for (const name of ['runAsync', 'runLive']) {
    const prototype = Runner.prototype as unknown as Record<string, Method>;
    methods.hook(prototype, name, (runner: PluginRunner, run: Method<Run>, args) => {
      const plugins = recordingPlugins(runner);
      if (plugins.length === 0) return run.apply(runner, args);
      const { sessionId } = args[0] as { readonly sessionId?: string };
      const events = run.apply(coveredRunner(runner, plugins), args);
      return stepwise(events, (step) => within({ plugins, sessionId }, step));
    });
  }
}

/** Returns the plugins of this package that a run must have. */
function recordingPlugins({ pluginManager }: PluginRunner): readonly BasePlugin[] {
  const own = [...(pluginManager.plugins ?? [])].filter((plugin) => recordsCalls in plugin);
  if (own.length > 0) return own;
  const installed = processCoverage.current;
  const [innermost] = surroundingRuns();
  return innermost?.plugins ?? (installed ? [installed] : []);
}

/** Returns a view of a runner that has the plugins for this run only; the runner itself if it has them. */
function coveredRunner(runner: PluginRunner, plugins: readonly BasePlugin[]): PluginRunner {
  const { pluginManager } = runner;
  const own = pluginManager.plugins ?? new Set();
  if (plugins.every((plugin) => own.has(plugin))) return runner;
  const manager = Object.create(pluginManager, { plugins: { value: new Set([...plugins, ...own]) } });
  return Object.create(runner, { pluginManager: { value: manager } }) as PluginRunner;
}

/** Tools of the last request to the model. */
const offeredTools = new WeakMap<InvocationContext, Readonly<Record<string, BaseTool>>>();

/** Remembers the tools of a request to the model. */
function rememberTools(context: InvocationContext, tools: Readonly<Record<string, BaseTool>>): void {
  offeredTools.set(context, tools);
}

/** Returns the calls of unknown tools, for which ADK ends the run before any tool callback. */
function unknownToolCalls(context: InvocationContext, response: LlmResponse): ResponseCall[] {
  const tools = offeredTools.get(context);
  if (!tools) return [];
  return (response.content?.parts ?? []).flatMap(({ functionCall }) => {
    const { name = '', args = {}, id } = functionCall ?? {};
    if (!functionCall || name in tools) return [];
    const outcome = failed(responseStatuses.unknownTool, 'Unknown tool.');
    return [{ toolName: name, arguments: args, callId: id, outcome, source: functionCall }];
  });
}

type Given<Callback extends keyof BasePlugin> = BasePlugin[Callback] extends (given: infer Params) => unknown
  ? Params
  : never;

/** Creates the plugin behind `actlog()`. */
function recordPlugin(options: AdapterOptions = {}): BasePlugin {
  return new RecordPlugin(options);
}

/**
 * Records a call when its tool runs, or from ADK's callbacks if the tool does not run. Its callbacks return nothing, so
 * that others may.
 */
class RecordPlugin extends BasePlugin {
  static {
    // ADK warns about experimental callbacks when it calls them on the base class, where they do nothing.
    for (const name of Object.getOwnPropertyNames(BasePlugin.prototype)) {
      if (Object.hasOwn(RecordPlugin.prototype, name)) continue;
      Object.defineProperty(RecordPlugin.prototype, name, { value: async () => undefined });
    }
  }

  readonly [recordsCalls] = true;
  readonly #calls: AdapterCalls;

  constructor(options: AdapterOptions) {
    super(ownName('google-adk')); // ADK rejects two plugins with the same name, and a runner with two should work
    this.#calls = googleAdkCalls(options);
    hookRunners();
  }

  override async beforeToolCallback({ tool, toolContext }: Given<'beforeToolCallback'>): Promise<undefined> {
    recordRun(tool, toolContext, this.#calls, this);
  }

  override async afterToolCallback(given: Given<'afterToolCallback'>): Promise<undefined> {
    const { tool, toolArgs, toolContext, result } = given;
    if (hasRun(toolContext) || awaitsInput({ context: toolContext })) return;
    const call = { toolName: tool.name, arguments: toolArgs, callId: toolContext.functionCallId };
    this.#recordOnce(toolContext, { ...call, outcome: callbackOutcome(result), source: toolContext });
  }

  override async beforeModelCallback(given: Given<'beforeModelCallback'>): Promise<LlmResponse | undefined> {
    const { invocationContext } = given.callbackContext;
    rememberModelCall(this.#calls, invocationContext);
    rememberTools(invocationContext, given.llmRequest.toolsDict);
    const reason = endOfRun(invocationContext);
    if (reason === undefined) return undefined;
    given.callbackContext.actions.escalate = true; // a LoopAgent would start again
    return { content: { role: 'model', parts: [{ text: reason }] } };
  }

  override async afterModelCallback(given: Given<'afterModelCallback'>): Promise<undefined> {
    const { callbackContext, llmResponse } = given;
    if (llmResponse.partial) return;
    const { invocationContext } = callbackContext;
    for (const call of unknownToolCalls(invocationContext, llmResponse))
      this.#recordOnce(callbackContext, call);
    for (const call of providerCalls(invocationContext, llmResponse)) this.#recordOnce(callbackContext, call);
  }

  #recordOnce(context: Context, { outcome, source, ...call }: ResponseCall): void {
    if (!this.#calls.covers(call.toolName) || !this.#calls.claim(source)) return;
    this.#calls.record({ ...surroundings(context), ...call }, outcome);
  }
}

/** Returns the outcome of a call for which a callback returned a result in place of the tool. */
function callbackOutcome(result: unknown): ToolOutcome {
  const hasError = typeof result === 'object' && result !== null && 'error' in result;
  return hasError ? failed(responseStatuses.denied, 'A callback returned an error.') : { ok: true, result };
}

/**
 * Records every tool call of all agents of a runner, and guards it if the recorder's guard is on:
 *
 * ```ts
 * const runner = new InMemoryRunner({ agent, plugins: [actlog()] });
 * ```
 *
 * Runners that a tool's function or a callback starts are covered too. `actlog.install()` covers all runners of the
 * process. Put the plugin first in the list: when a plugin returns a value from a callback, the plugins after it are not
 * called.
 *
 * @throws when no recorder is given and the environment does not configure one; see `sharedRecorder`
 */
export const actlog: typeof recordPlugin & {
  /**
   * Covers the whole process: records and guards the calls of all runners without a plugin of this package, in their next
   * runs, also of those that exist already. Of several installs, the last one applies.
   *
   * Returns a function that ends the coverage; runs that have begun end as they began.
   */
  readonly install: typeof installForProcess;
} = Object.assign(recordPlugin, { install: installForProcess });

/** Covers the whole process, for `actlog.install()`. */
function installForProcess(options: AdapterOptions = {}): () => void {
  return processCoverage.install(recordPlugin(options));
}

/**
 * Remembers what the user said in a session, and the instructions of the agent that is about to call the model, for
 * argument origins. The request to the model is no use for that: there, results of other agents' tools are user text,
 * and the instructions contain values of the session's state.
 */
function rememberModelCall(calls: AdapterCalls, context: InvocationContext): void {
  if (invocationsAround().length > 0) return; // a model or a tool wrote the prompt
  noteTexts(calls, () => {
    const { session, userContent, agent } = context;
    return {
      sessionId: session.id,
      user: [userContent?.parts, ...firstMessages(session.events)],
      system: agent ? instructionsOf(agent) : [],
    };
  });
}

/** Yields the messages with which runs began. Later ones may be input of a node, which another node's model wrote. */
function* firstMessages(events: readonly Event[]): Generator<unknown> {
  const begun = new Set<string>();
  for (const { invocationId, author, content } of events) {
    if (begun.has(invocationId)) continue;
    begun.add(invocationId);
    if (author === 'user') yield content?.parts;
  }
}

/** Returns the instructions as the developer wrote them; functions for them are not called again. */
function instructionsOf(agent: BaseAgent): unknown[] {
  const root = agent.rootAgent;
  return [
    isLlmAgent(agent) ? agent.instruction : undefined,
    isLlmAgent(root) ? root.globalInstruction : undefined,
  ];
}

/** A part of a response of the model. */
type Part = NonNullable<NonNullable<LlmResponse['content']>['parts']>[number];

/** A call that is only visible in the model's response. */
interface ResponseCall {
  readonly toolName: string;
  readonly arguments: unknown;
  readonly callId?: string | undefined;
  readonly outcome: ToolOutcome;
  /** Object in the response that identifies the call. */
  readonly source: object;
}

/** Creates the outcome of a failed call whose error is unknown. */
function failed(status: number, message: string): ToolOutcome {
  return { ok: false, error: Object.assign(new Error(message), { status }) };
}
