import { AsyncLocalStorage } from 'node:async_hooks';
import { ActionDeniedError } from '@actlog/recorder';
import { type AdapterCalls, DeniedRun, type HookedCall, processWide } from '@actlog/recorder/adapter';
import {
  type BaseAgent,
  type BasePlugin,
  type BaseTool,
  type Context,
  type InvocationContext,
  isAgentTool,
  isFunctionTool,
  type SingleAgentCallback,
} from '@google/adk';
import {
  invocationsAround,
  isNodeTool,
  runsOfCalls,
  surroundings,
  type ToolRun,
  thrownErrors,
  within,
} from './google-adk-calls.ts';

/** An invocation with denials, of all its agents. */
interface Invocation {
  readonly id: string;
  readonly run: DeniedRun;
}

/** Latest invocation with a denial of each session. */
const invocations = processWide('@actlog/google-adk/denied-runs', () => new WeakMap<object, Invocation>());

function runOf({ session, invocationId }: InvocationContext): DeniedRun | undefined {
  const invocation = invocations().get(session);
  return invocation?.id === invocationId ? invocation.run : undefined;
}

/**
 * Counts a denial in its invocation, which ends before the next model call if the model repeats itself. The end of an
 * invocation is a denial for the invocation whose tool runs it, because its model might keep starting that agent.
 */
function countDenial(context: InvocationContext, call: HookedCall, denial: ActionDeniedError): void {
  for (const one of [context, ...invocationsAround()]) {
    const run = runOf(one) ?? new DeniedRun();
    invocations().set(one.session, { id: one.invocationId, run });
    if (!run.deny(call, denial)) return;
  }
}

/** Resets the denials of a tool after an allowed call in its invocation. */
function resetDenials(context: InvocationContext, toolName: string): void {
  runOf(context)?.letThrough(toolName);
}

/** Returns the reason why an invocation must end; undefined while it continues. */
export function endOfRun(context: InvocationContext): string | undefined {
  return runOf(context)?.reason;
}

/** Plugins that the runner of an agent tool has not received yet. */
const missing = new AsyncLocalStorage<BasePlugin[]>();

/**
 * Runs a tool. An agent used as a tool gets another runner without the plugins of the outer one, so this adds a
 * callback to its agents that registers the recording plugins. The callback does nothing outside such a run.
 */
function withinAgentTool<Result>(tool: BaseTool, plugins: Iterable<BasePlugin>, run: () => Result): Result {
  if (!isAgentTool(tool)) return run();
  cover(Reflect.get(tool, 'agent'));
  return missing.run([...plugins], run);
}

/**
 * Adds the callback to an agent and its subagents, because the run may start with any of them: the one that was last
 * active in the session.
 */
function cover(agent: BaseAgent | undefined): void {
  if (!agent) return;
  for (const subAgent of agent.subAgents) cover(subAgent);
  const own = agent.beforeAgentCallback;
  if (!own.includes(bringPlugins)) Object.assign(agent, { beforeAgentCallback: [bringPlugins, ...own] });
}

/**
 * Registers the plugins, only with the first runner: an inner tool may have another runner, which outlives this run.
 */
const bringPlugins: SingleAgentCallback = ({ invocationContext: { pluginManager } }) => {
  for (const plugin of missing.getStore()?.splice(0) ?? []) {
    if (!pluginManager.getPlugin(plugin.name)) pluginManager.registerPlugin(plugin);
  }
  return undefined;
};

type Request = Parameters<BaseTool['runAsync']>[0];
type Run = () => Promise<unknown>;
/** Runs a tool with its arguments, which an approver may have changed. */
type RunWith = (args: unknown) => Promise<unknown>;

/** A run that is about to start or has started. */
interface AwaitedRun extends ToolRun {
  /** Recorders of the run, and the plugins that requested it. */
  readonly recordedBy: Map<AdapterCalls, BasePlugin>;
  hasBegun: boolean;
}

const runs = processWide('@actlog/google-adk/runs', () => new WeakMap<Context, AwaitedRun>());
const recordedTools = processWide('@actlog/google-adk/recorded-tools', () => new WeakSet<object>());

/**
 * Records and guards the next run of a tool, if the options cover it. The callbacks before and after cannot wrap a
 * call, so the tool itself is wrapped; its methods are unchanged for all runs that are not recorded. An agent tool that
 * the options exclude may still contain agents with tools.
 */
export function recordRun(tool: BaseTool, context: Context, calls: AdapterCalls, plugin: BasePlugin): void {
  if (!calls.covers(tool.name) && !isAgentTool(tool)) return;
  const holder = holderOf(tool);
  // The function of a frozen tool cannot be replaced.
  const isFunction = isFunctionTool(tool) && holder === tool;
  const run = runs().get(context) ?? {
    context,
    isFunction,
    isNode: isNodeTool(tool),
    hasReachedFunction: false,
    hasBegun: false,
    recordedBy: new Map(),
  };
  runs().set(context, run);
  run.recordedBy.set(calls, plugin);
  if (recordedTools().has(holder)) return;
  recordedTools().add(holder);
  wrapMethod<[Request]>(holder, 'runAsync', (ran, original, request) => {
    const recorded = runs().get(request.toolContext);
    return recorded ? runRecorded(ran as BaseTool, request, recorded, original) : original();
  });
  if (isFunction) {
    wrapMethod<[unknown, Context?]>(tool, 'execute', (_tool, original, _args, toolContext) => {
      const recorded = toolContext && runs().get(toolContext);
      return recorded ? runFunction(recorded, original) : original();
    });
  }
}

/** Returns `true` if the tool itself ran in this context, so that its call is recorded. */
export function hasRun(context: Context): boolean {
  return runs().get(context)?.hasBegun ?? false;
}

/** Returns the object whose methods can be wrapped: the tool itself or, if it is frozen, its prototype. */
function holderOf(tool: BaseTool): object {
  const isOpen = Object.isExtensible(tool) || Object.hasOwn(tool, 'runAsync');
  return isOpen ? tool : (Reflect.getPrototypeOf(tool) as object);
}

function wrapMethod<Args extends unknown[]>(
  holder: object,
  name: string,
  wrapper: (tool: unknown, original: (changed?: Args[0]) => Promise<unknown>, ...args: Args) => unknown,
): void {
  const method: unknown = Reflect.get(holder, name);
  if (typeof method !== 'function') return;
  Object.defineProperty(holder, name, {
    configurable: true,
    writable: true,
    value(this: unknown, ...args: Args) {
      const original = (changed: Args[0] = args[0]) => method.apply(this, [changed, ...args.slice(1)]);
      return wrapper(this, original, ...args);
    },
  });
}

async function runFunction(run: AwaitedRun, original: Run): Promise<unknown> {
  run.hasReachedFunction = true;
  try {
    return await original();
  } catch (error) {
    run.thrown = error;
    throw error;
  }
}

/** Runs a tool. A denial becomes the result for the model: thrown, it would reach the callbacks for errors of tools. */
async function runRecorded(
  tool: BaseTool,
  request: Request,
  run: AwaitedRun,
  original: (changed?: Request) => Promise<unknown>,
): Promise<unknown> {
  const { args, toolContext } = request;
  run.hasBegun = true;
  let next: RunWith = async (given) => {
    try {
      const plugins = [...run.recordedBy.values()];
      const { invocationContext: context } = toolContext;
      const call = { plugins, context, sessionId: context.session.id };
      const isRequested = given === args;
      const runTool = () =>
        isRequested ? original() : original({ ...request, args: given as Request['args'] });
      return await within(call, () => withinAgentTool(tool, plugins, runTool));
    } catch (error) {
      if (run.thrown !== undefined && error instanceof Error) thrownErrors().set(error, run.thrown);
      throw error;
    }
  };
  for (const calls of run.recordedBy.keys()) {
    if (!calls.covers(tool.name)) continue;
    const inner = next;
    next = (given) => {
      const call = {
        ...surroundings(toolContext),
        toolName: tool.name,
        arguments: given,
        acceptsChanges: true,
      };
      runsOfCalls().set(call, run);
      return runGuarded(calls, call, toolContext, inner);
    };
  }
  try {
    return await next(args);
  } catch (error) {
    if (ActionDeniedError.isInstance(error)) return { error: error.message };
    throw error;
  }
}

/** Runs a call, and counts a denial in the run that it belongs to. */
async function runGuarded(
  calls: AdapterCalls,
  call: HookedCall,
  { invocationContext }: Context,
  run: RunWith,
): Promise<unknown> {
  let isLetThrough = false;
  const body: RunWith = (args) => {
    isLetThrough = true;
    resetDenials(invocationContext, call.toolName);
    return run(args);
  };
  try {
    return await calls.run(call, body);
  } catch (error) {
    if (!isLetThrough && ActionDeniedError.isInstance(error)) countDenial(invocationContext, call, error);
    throw error;
  }
}
