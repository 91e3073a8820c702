import type { ToolOutcome } from '@actlog/recorder';
import {
  type AdapterCalls,
  type AdapterOptions,
  BegunCall,
  type HookedCall,
  MethodHooks,
  processWide,
  refuseOptions,
  type ToolsOnly,
  type WithoutOptions,
  withMethods,
} from '@actlog/recorder/adapter';
import { Agent, type ToolsInput } from '@mastra/core/agent';
import type { ToolAfterHookContext, ToolHookContext, ToolHooks } from '@mastra/core/tools';
import { DefaultExecutionEngine } from '@mastra/core/workflows';
import { currentScope, enterScope, hookInstructions, prepareScopes } from './call-scope.ts';
import {
  coverTools,
  processCoverage,
  rememberReporting,
  runReported,
  runReportedId,
} from './covered-tools.ts';
import {
  argumentsOf,
  inWorkflowRun,
  isDelegation,
  mastraCalls,
  nameForModel,
  suspended,
} from './mastra-calls.ts';
import { type RecordedCalls, recordedCalls, type TracedCall } from './recorded-calls.ts';
import { type Execute, isExecutable, recordedExecute, type ToolContext } from './recorded-execute.ts';
import {
  type Invocation,
  rememberInConversation,
  rememberRun,
  SuspensionWatch,
  sessionOf,
} from './session.ts';
import { recordSpans } from './tracing/exporter.ts';

const workflowMethods = new MethodHooks('@actlog/mastra/workflow-methods');

/** Input of a step, from its workflow. */
interface StepInput extends ToolContext {
  readonly inputData?: unknown;
}

/** A step of a workflow. */
interface Step {
  readonly inputSchema?: unknown;
  readonly id: string;
  /** `TOOL` for a step that was made of a tool. */
  readonly component?: string;
  readonly execute: (input: StepInput) => unknown;
}

/** The used part of the engine of a workflow. */
interface Engine {
  readonly options?: { readonly tracingPolicy?: { readonly internal?: unknown } | undefined };
}

/**
 * Covers the tools that are steps of workflows, also of those created before, and keeps all calls of a workflow's run in
 * one session.
 */
function hookWorkflowSteps(): void {
  const prototype = DefaultExecutionEngine.prototype as unknown as { executeStep: unknown };
  workflowMethods.hook(prototype, 'executeStep', (engine: Engine, executeStep, [params, ...more]) => {
    const { step, runId } = params as { readonly step: Step; readonly runId: string };
    const changed = step?.component === 'TOOL' ? { ...(params as object), step: coveredStep(step) } : params;
    const run = () => executeStep.apply(engine, [changed, ...more]);
    // Mastra's agents are also internal workflows.
    return engine.options?.tracingPolicy?.internal ? run() : inWorkflowRun(runId, run);
  });
}

function coveredStep(step: Step): Step {
  const coverage = processCoverage.current;
  if (!coverage?.calls.covers(step.id)) return step;
  const execute = (given: StepInput) => {
    const run = (inputData: unknown) =>
      runReportedId(step.id, () =>
        step.execute(inputData === given.inputData ? given : { ...given, inputData: inputData as never }),
      );
    const { requestContext, tracingContext, abortSignal, suspend } = given;
    const context = { requestContext, tracingContext, abortSignal, workflow: { suspend } } as ToolContext;
    return recordedExecute(step.id, run, coverage.calls, step.inputSchema)(given.inputData, context);
  };
  return withMethods(step, { execute }, 'class-methods');
}

/** Creates the hooks behind `actlog()`. */
function recordHooks(options: AdapterOptions = {}): ToolHooks {
  return recordAround({}, options);
}

/**
 * Creates the hooks behind `actlog.around()`. Your `beforeToolCall` runs first, so that the guard checks what will
 * really run; your `afterToolCall` runs last.
 *
 * @throws when no recorder is given and the environment does not configure one; see `sharedRecorder`
 */
function recordAround(hooks: ToolHooks & WithoutOptions, options: AdapterOptions = {}): ToolHooks {
  refuseOptions(hooks, 'actlog.around(hooks, { guard })');
  hookInnerAgents();
  hookWorkflowSteps();
  const recording = new RecordingHooks(hooks, options, (own) => recordAround(own, options));
  /** Mastra calls a hook as a method of its container, through which the other hook can be inspected. */
  function beforeToolCall(this: ToolHooks | undefined, ...args: Parameters<RecordingHooks['before']>) {
    keepAfter(this);
    return recording.before(...args);
  }
  const afterToolCall: ToolHooks['afterToolCall'] = (context) => recording.after(context);
  const kept = new WeakSet<object>([afterToolCall]);

  /**
   * Restores the second hook if another one has replaced it, because calls would never end otherwise. Runs it first,
   * then the other.
   */
  function keepAfter(installed: ToolHooks | undefined): void {
    const other = installed?.afterToolCall;
    if (!installed || (other && kept.has(other))) return;
    const both: ToolHooks['afterToolCall'] = async (context) => {
      await recording.end(context);
      await other?.call(installed, context);
    };
    if (Reflect.set(installed, 'afterToolCall', both)) kept.add(both);
  }

  const recordingHooks = { beforeToolCall, afterToolCall };
  rememberRecording(recordingHooks);
  return recordingHooks;
}

const methods = new MethodHooks('@actlog/mastra/hooked-methods');

/** Hooks that record. */
const recording = processWide('@actlog/mastra/recording-hooks', () => new WeakSet<object>());

/** Remembers hooks that record, so that an agent with them gets no others. */
function rememberRecording({ beforeToolCall, afterToolCall }: ToolHooks): void {
  for (const hook of [beforeToolCall, afterToolCall]) if (hook) recording().add(hook);
}

/**
 * Makes agents inside a covered call, such as agents that a covered agent delegates to, use the hooks of the outer
 * agent, and all agents of a covered process the hooks of the process. Mastra passes hooks to no inner agent, so this
 * adds them in the undocumented method that gives an agent its hooks.
 */
function hookInnerAgents(): void {
  const prototype = Agent.prototype as unknown as { wrapToolsWithHooks?: unknown };
  if (!prototype.wrapToolsWithHooks) return;
  methods.hook(prototype, 'wrapToolsWithHooks', (agent, wrapTools, args) => {
    const [tools, hooks] = args as [unknown, ToolHooks | undefined];
    return wrapTools.call(agent, tools, coveredHooks(hooks));
  });
}

function coveredHooks(own: ToolHooks | undefined): ToolHooks | undefined {
  const isRecording = [own?.beforeToolCall, own?.afterToolCall].some((hook) => hook && recording().has(hook));
  if (isRecording) return own;
  return currentScope()?.cover?.(own ?? {}) ?? processCoverage.current?.cover(own) ?? own;
}

/**
 * Records every tool call of an agent, and guards it if the recorder's guard is on:
 *
 * ```ts
 * const agent = new Agent({ id, name, instructions, model, tools, hooks: actlog() });
 * ```
 *
 * `actlog.install()` does the same for all agents and tools of the process.
 *
 * Hooks passed to a run replace the agent's hooks of the same name. If you have other hooks, on the agent or for a run,
 * `actlog.around(hooks)` combines both. Agents that another one delegates to are covered by that one's hooks.
 * If Mastra runs tools without hooks, as in workflows and networks, or if a step of a run adds tools, install the
 * adapter for the process or wrap them with `actlog.tools(tools)`.
 *
 * @throws when no recorder is given and the environment does not configure one; see `sharedRecorder`
 */
export const actlog: typeof recordHooks & {
  /** Covers the whole process: every agent, network, workflow and code mode. Returns a function that ends that. */
  readonly install: typeof installHooks;
  /** Combines the hooks with yours, for an agent or for a single run. */
  readonly around: typeof recordAround;
  /** Wraps tools for networks, workflows, code mode, steps and manual calls: recorded and guarded wherever they run. */
  readonly tools: typeof recordTools;
  /** Exporter for `Observability`: records the calls of every agent and workflow that nothing else records. */
  readonly exporter: typeof recordSpans;
} = Object.assign(recordHooks, {
  install: installHooks,
  around: recordAround,
  tools: recordTools,
  exporter: recordSpans,
});

/**
 * Covers the whole process: the agents and tools of every Mastra, including existing ones, also in networks, workflows
 * and code mode. An agent with its own `actlog()` keeps that, and so do wrapped tools. Of several calls, the last
 * applies.
 *
 * @returns a function that ends the coverage; runs under way end as they began
 * @throws when no recorder is given and the environment does not configure one; see `sharedRecorder`
 */
function installHooks(options: AdapterOptions = {}): () => void {
  prepareScopes();
  const calls = mastraCalls(options);
  if (calls.tracesOrigins) hookInstructions();
  const hooks = recordAround({}, options);
  const isOwn = (own: ToolHooks | undefined) => own?.beforeToolCall ?? own?.afterToolCall;
  coverTools();
  return processCoverage.install({
    calls,
    cover: (own) => (own && isOwn(own) ? recordAround(own, options) : hooks),
  });
}

/**
 * Wraps tools for `actlog.tools()`: the same tools, of the same types, recorded and guarded wherever Mastra runs them.
 *
 * @param tools - tools by name, as passed to an agent
 * @throws when no recorder is given and the environment does not configure one; see `sharedRecorder`
 */
function recordTools<Tools extends ToolsInput>(
  tools: Tools & ToolsOnly<Tools>,
  options: AdapterOptions = {},
): Tools {
  refuseOptions(tools, 'actlog.tools(tools, { guard })');
  prepareScopes();
  hookWorkflowSteps();
  const calls = mastraCalls(options);
  if (calls.tracesOrigins) hookInstructions();
  const entries = Object.entries(tools as Record<string, unknown>).map(([name, tool]) => {
    const toolName = nameForModel(name);
    const isRecorded = isExecutable(tool) && calls.covers(toolName);
    if (!isRecorded) return [name, tool];
    const execute: Execute = (...args) => runReported(tool, ...args);
    const recorded = recordedExecute(toolName, execute, calls, tool.inputSchema, tool.execute);
    rememberReporting(recorded);
    // Own functions of the tool may be schemas.
    return [name, withMethods(tool, { execute: recorded }, 'class-methods')];
  });
  return Object.fromEntries(entries) as Tools;
}

/** Result of a hook before a call: undefined, or a result in place of the tool's. */
type HookResult = Awaited<ReturnType<NonNullable<ToolHooks['beforeToolCall']>>>;

/** A call between its two hooks. */
interface OpenCall {
  /** Undefined for calls that are not covered. */
  readonly begun: BegunCall | undefined;
  readonly suspension: SuspensionWatch;
}

/** Implements both hooks of a call, including the user's. */
class RecordingHooks {
  readonly #own: ToolHooks;
  readonly #calls: AdapterCalls;
  readonly #recorded: RecordedCalls;
  readonly #open = new WeakMap<Invocation, OpenCall>();

  readonly #cover: (own: ToolHooks) => ToolHooks;

  /** @param cover - creates hooks with the same options, for inner agents */
  constructor(own: ToolHooks, options: AdapterOptions, cover: (own: ToolHooks) => ToolHooks) {
    prepareScopes();
    this.#own = own;
    this.#cover = cover;
    this.#calls = mastraCalls(options);
    this.#recorded = recordedCalls(this.#calls.recorder);
    if (this.#calls.tracesOrigins) hookInstructions();
  }

  /** Runs the user's hook and then the guard. The model reads the error that is thrown. */
  async before(context: ToolHookContext): Promise<HookResult> {
    const hooked = hookedTool(context, this.#calls);
    const { call, invocation } = hooked;
    const { toolName, sessionId } = call;
    rememberRun(this.#calls, call, invocation.messages, invocation);
    // Before the first `await`, so that it takes effect where Mastra continues to run the tool.
    const delegatedSession = isDelegation(toolName) ? sessionId : undefined;
    const scope = enterScope({ invocation, call, delegatedSession, cover: this.#cover });
    if (!this.#calls.covers(toolName)) {
      this.#open.set(invocation, { begun: undefined, suspension: new SuspensionWatch() });
      return this.#own.beforeToolCall?.(context);
    }
    scope.enterCall ??= BegunCall.place(sessionId);
    const result = await this.#runOwnHook(hooked, context);
    if (result?.proceed === false) return result;
    scope.enterCall(await this.#begin(hooked));
    scope.recordedBy.add(this.#recorded);
  }

  /** Ends the call, and then runs the user's hook. */
  async after(context: ToolAfterHookContext): Promise<void> {
    await this.end(context);
    await this.#own.afterToolCall?.(context);
  }

  /** Records the outcome of a call, including one that did not pass {@link before} and was therefore not guarded. */
  async end(context: ToolAfterHookContext): Promise<void> {
    const hooked = hookedTool(context, this.#calls);
    const { call, invocation } = hooked;
    const { output, error } = context;
    const ended: ToolOutcome = 'error' in context ? { ok: false, error } : { ok: true, result: output };
    const open = this.#open.get(invocation);
    this.#open.delete(invocation);
    if (open) await open.begun?.end(open.suspension.isSuspended ? suspended : ended);
    else if (this.#calls.covers(call.toolName) && !this.#isRecorded(hooked)) {
      this.#recordOnce(hooked, ended);
    }
  }

  /** Runs the user's hook; if it returns a result in place of the tool's, the call ends. */
  async #runOwnHook(hooked: HookedTool, context: ToolHookContext): Promise<HookResult> {
    try {
      const result = await this.#own.beforeToolCall?.(context);
      if (result?.proceed === false) this.#recordOnce(hooked, { ok: true, result: result.output });
      return result;
    } catch (error) {
      this.#recordOnce(hooked, { ok: false, error });
      throw error;
    }
  }

  async #begin({ call, invocation }: HookedTool): Promise<BegunCall> {
    try {
      const begun = await this.#calls.begin(call);
      this.#open.set(invocation, { begun, suspension: new SuspensionWatch(invocation) });
      return begun;
    } catch (error) {
      this.#recorded.takeInvocation(invocation); // the guard has recorded it
      throw error;
    }
  }

  /** Returns `true` if an exporter or a wrapped tool has recorded a call that did not pass {@link before}. */
  #isRecorded({ invocation, traced }: HookedTool): boolean {
    const isByTool = this.#recorded.hasByTool(invocation.messages, invocation.toolCallId);
    return this.#recorded.takeExported(traced) || isByTool;
  }

  #recordOnce({ call, invocation }: HookedTool, outcome: ToolOutcome): void {
    if (this.#recorded.takeInvocation(invocation)) this.#calls.record(call, outcome);
  }
}

/** A call as reported to a hook. */
interface HookedTool {
  readonly call: HookedCall;
  /** The same object for both hooks of a call. */
  readonly invocation: Invocation;
  readonly traced: TracedCall;
}

/** Converts the context of a hook to a call for the recorder. */
function hookedTool(
  { toolName, input, context, metadata }: ToolHookContext,
  calls: AdapterCalls,
): HookedTool {
  const isObject = typeof context === 'object' && context !== null;
  const invocation: Invocation = isObject ? context : {};
  const agentId = metadata?.agentId;
  const call = {
    toolName,
    arguments: argumentsOf(toolName, input),
    callId: invocation.toolCallId,
    sessionId: sessionOf(invocation, calls),
    agentId: typeof agentId === 'string' ? agentId : undefined,
    signal: invocation.abortSignal,
  };
  rememberInConversation(calls, call, invocation.messages);
  const traceId = invocation.tracingContext?.currentSpan?.traceId;
  return { call, invocation, traced: { traceId, callId: invocation.toolCallId } };
}
