import { AsyncLocalStorage } from 'node:async_hooks';
import { type AdapterCalls, MethodHooks, ProcessCoverage, processWide } from '@actlog/recorder/adapter';
import { Agent } from '@mastra/core/agent';
import { Tool, type ToolHooks } from '@mastra/core/tools';
import { currentScope } from './call-scope.ts';
import { nameForModel } from './mastra-calls.ts';
import {
  type ExecutableTool,
  type Execute,
  isExecutable,
  recordedExecute,
  type ToolContext,
} from './recorded-execute.ts';

/** Coverage of the whole process, from one `actlog.install()`. */
interface Installed {
  /** Recorder of tools that Mastra runs without hooks. */
  readonly calls: AdapterCalls;
  /** Creates recording hooks for an agent, around its hooks. */
  readonly cover: (own: ToolHooks | undefined) => ToolHooks;
}

/** Coverages of the whole process, from `actlog.install()`. */
export const processCoverage: ProcessCoverage<Installed> = new ProcessCoverage('@actlog/mastra/installed');

/** Property with which Mastra marks its tools. Their constructor sets it before their function. */
const marker = Symbol.for('mastra.core.tool.Tool');

const methods = new MethodHooks('@actlog/mastra/tool-methods');

/** Functions of tools that report their calls, which copies of a tool share, with the name that the model knows. */
const reporting = processWide(
  '@actlog/mastra/reporting-tools',
  () => new WeakMap<Execute, string | undefined>(),
);

/** The function of the tool, or the id of the tool, whose call the code around it has reported. */
const reported = processWide(
  '@actlog/mastra/reported-tool',
  () => new AsyncLocalStorage<Execute | string | undefined>(),
);

/** Covers tools wherever they run: tools that are created from now on, and tools of agents. */
export function coverTools(): void {
  hookConstruction();
  methods.hook(Agent.prototype, 'listTools', (agent: Agent, listTools, args) => {
    const tools = listTools.apply(agent, args);
    return tools instanceof Promise ? tools.then(coverListed) : coverListed(tools);
  });
}

/** Remembers a function of a tool that reports its calls. */
export function rememberReporting(execute: Execute): void {
  reporting().set(execute, undefined);
}

/** Runs a tool whose call the caller reports. */
export function runReported(tool: ExecutableTool, ...args: Parameters<Execute>): unknown {
  return reported().run(tool.execute, () => tool.execute(...args));
}

/** Runs code that runs the tool with this id as a call that the caller reports. */
export function runReportedId<Result>(id: string, run: () => Result): Result {
  return reported().run(id, run);
}

/** Replaces the function of each new tool when its constructor sets it. */
function hookConstruction(): void {
  if (Object.hasOwn(Tool.prototype, marker)) return;
  Object.defineProperty(Tool.prototype, marker, {
    configurable: true,
    set(this: object, value: unknown) {
      const own = { configurable: true, enumerable: true, writable: true };
      Object.defineProperty(this, marker, { ...own, value });
      if (isExecutable(this)) return cover(this); // a copy, whose function was set before
      Object.defineProperty(this, 'execute', {
        configurable: true,
        enumerable: true,
        get: () => undefined,
        set: (execute: unknown) => {
          Object.defineProperty(this, 'execute', { ...own, value: execute });
          if (isExecutable(this)) cover(this);
        },
      });
    },
  });
}

function coverListed(tools: unknown): unknown {
  for (const [name, tool] of Object.entries((tools ?? {}) as Record<string, unknown>)) {
    if (isExecutable(tool)) cover(tool, nameForModel(name));
  }
  return tools;
}

function cover(tool: ExecutableTool, name?: string): void {
  if (!reporting().has(tool.execute)) {
    const covering = coveringExecute(tool);
    if (Reflect.set(tool, 'execute', covering)) reporting().set(covering, name);
  } else if (name !== undefined) reporting().set(tool.execute, name);
}

/** Returns a function that reports the calls of a tool while the process is covered. */
function coveringExecute(tool: ExecutableTool): Execute {
  const original = tool.execute;
  const execute: Execute = (...args) => reported().run(undefined, () => Reflect.apply(original, tool, args));
  const covering: Execute = (...args) => {
    const coverage = processCoverage.current;
    const toolName = reporting().get(covering) ?? idOf(tool);
    if (!coverage || toolName === undefined || !coverage.calls.covers(toolName)) return execute(...args);
    if (isReported(covering, idOf(tool), args[1])) return execute(...args);
    return recordedExecute(toolName, execute, coverage.calls, tool.inputSchema)(...args);
  };
  return covering;
}

/** Returns `true` if a hook, a wrapper or a step of a workflow reports the call. */
function isReported(covering: Execute, id: string | undefined, context: ToolContext | undefined): boolean {
  const current = reported().getStore();
  if (current !== undefined && (current === covering || current === id)) return true;
  const scope = currentScope();
  const callId = context?.agent?.toolCallId ?? context?.toolCallId;
  if (!scope || callId === undefined || scope.call.callId !== callId) return false;
  // The tool may pass its context to another one.
  scope.tool ??= covering;
  return scope.tool === covering;
}

function idOf(tool: object): string | undefined {
  const { id } = tool as { readonly id?: unknown };
  return typeof id === 'string' ? id : undefined;
}
