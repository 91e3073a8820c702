import { createRequire } from 'node:module';
import { BaseChatModel } from '@langchain/core/language_models/chat_models';
import { RunnableToolLike } from '@langchain/core/runnables';
import { StructuredTool } from '@langchain/core/tools';
import { ToolNode } from '@langchain/langgraph/prebuilt';
import { Pregel } from '@langchain/langgraph/pregel';
import { createAgent, tool } from 'langchain';

/** Prototypes of the classes of LangChain and LangGraph whose methods are hooked. */
export interface FrameworkClasses {
  /** Tools, and runnables that are used as tools. */
  readonly tools: readonly object[];
  /** Nodes that run the tool calls of a message. */
  readonly toolNodes: readonly object[];
  /** Agents of `createAgent`. */
  readonly agents: readonly object[];
  readonly graphs: readonly object[];
  readonly models: readonly object[];
}

type Class = { readonly prototype: object } | undefined;

type Langchain = { readonly createAgent: typeof createAgent; readonly tool: typeof tool };

/** Modules of LangChain and LangGraph; only those that are loaded. */
interface Modules {
  readonly models?: { readonly BaseChatModel?: Class } | undefined;
  readonly runnables?: { readonly RunnableToolLike?: Class } | undefined;
  readonly tools?: { readonly StructuredTool?: Class } | undefined;
  readonly pregel?: { readonly Pregel?: Class } | undefined;
  readonly prebuilt?: { readonly ToolNode?: Class } | undefined;
  readonly langchain?: Langchain | undefined;
}

/**
 * Returns the classes of all loaded copies: `import` and `require` load different ones. The copy of `require` counts
 * only if the application has loaded it.
 */
export function frameworkClasses(): FrameworkClasses[] {
  const imported = {
    models: { BaseChatModel },
    runnables: { RunnableToolLike },
    tools: { StructuredTool },
    pregel: { Pregel },
    prebuilt: { ToolNode },
    langchain: { createAgent, tool },
  };
  return [imported, requiredModules()].map(classesOf);
}

const requiredNames = {
  models: '@langchain/core/language_models/chat_models',
  runnables: '@langchain/core/runnables',
  tools: '@langchain/core/tools',
  pregel: '@langchain/langgraph/pregel',
  prebuilt: '@langchain/langgraph/prebuilt',
  langchain: 'langchain',
} as const satisfies Record<keyof Modules, string>;

type Require = ReturnType<typeof createRequire>;

function ownRequire(): Require | undefined {
  try {
    return createRequire(import.meta.url);
  } catch {
    return undefined; // a CommonJS bundle has no such URL
  }
}

/** Modules as this file requires them. */
interface Resolved {
  /** Undefined in a CommonJS bundle, whose classes are those that this file imports. */
  readonly require?: Require;
  /** Paths by the names in {@link Modules}. */
  readonly paths: readonly (readonly [name: string, path: string])[];
}

/** Found once, because an application may create an agent for every request. */
let resolved: Resolved | undefined;

/** Returns the modules that the application has loaded by `require`. */
function requiredModules(): Modules {
  resolved ??= resolveRequired();
  const { require, paths } = resolved;
  return Object.fromEntries(paths.map(([name, path]) => [name, require?.cache?.[path]?.exports]));
}

/** Finds the modules; a bundle may contain some without their packages. */
function resolveRequired(): Resolved {
  const require = ownRequire();
  if (require === undefined) return { paths: [] };
  const paths = Object.entries(requiredNames).flatMap(([name, module]) => {
    try {
      return [[name, require.resolve(module)] as const];
    } catch {
      return [];
    }
  });
  return { require, paths };
}

function classesOf({ models, runnables, tools, pregel, prebuilt, langchain }: Modules): FrameworkClasses {
  const agent = langchain && sampleAgent(langchain);
  return {
    tools: prototypes(tools?.StructuredTool, runnables?.RunnableToolLike),
    toolNodes: [...prototypes(prebuilt?.ToolNode), ...(agent ? toolNodesOf(agent).map(prototypeOf) : [])],
    agents: agent ? [prototypeOf(agent)] : [],
    graphs: prototypes(pregel?.Pregel),
    models: prototypes(models?.BaseChatModel),
  };
}

function prototypes(...classes: readonly Class[]): object[] {
  return classes.flatMap((one) => (one ? [one.prototype] : []));
}

function prototypeOf(value: object): object {
  return Object.getPrototypeOf(value) as object;
}

const sampleAgents = new Map<unknown, object | undefined>();

/** Returns an agent that never runs: `langchain` does not export the classes of its agents and of their tool nodes. */
function sampleAgent(langchain: Langchain): object | undefined {
  const { createAgent: create } = langchain;
  if (!sampleAgents.has(create)) sampleAgents.set(create, newAgent(langchain));
  return sampleAgents.get(create);
}

function newAgent({ createAgent: create, tool: toolOf }: Langchain): object | undefined {
  const schema = { type: 'object', properties: {} } as const;
  try {
    const none = toolOf(() => '', { name: 'none', description: 'None.', schema });
    return create({ model: 'none', tools: [none] });
  } catch {
    return undefined; // this version requires more options: only hooks on tools see calls then
  }
}

/** Returns the nodes of an agent's graph that run tool calls. */
export function toolNodesOf(agent: object): object[] {
  const { nodes } = (agent as { readonly graph?: { readonly nodes?: object } }).graph ?? {};
  const bound = Object.values(nodes ?? {}).map((node: { readonly bound?: unknown }) => node.bound);
  return bound.filter(
    (node) => typeof (node as { runTool?: unknown } | undefined)?.runTool === 'function',
  ) as object[];
}
