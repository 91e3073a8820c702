import { type Method, processWide } from '@actlog/recorder/adapter';
import { toolNodesOf } from './framework-classes.ts';
import { hookedMethods } from './langchain-calls.ts';

/** Middleware of this package. */
const middlewares = processWide('@actlog/langchain/middlewares', () => new WeakSet<object>());

/** Tool nodes of agents with that middleware. */
const ownNodes = processWide('@actlog/langchain/own-nodes', () => new WeakSet<object>());

/** The used part of an agent of `createAgent`. */
interface Agent {
  readonly options?: { readonly middleware?: readonly object[] | undefined };
}

/** Remembers middleware of this package. */
export function rememberMiddleware(middleware: object): void {
  middlewares().add(middleware);
}

/** Returns `true` for the tool node of an agent that has middleware of this package, which records the calls itself. */
export function isOwnNode(node: object): boolean {
  return ownNodes().has(node);
}

/** Hooks all ways to run an agent's graph, to find the tool nodes of agents with middleware of this package. */
export function hookAgents(prototype: object): void {
  for (const method of ['invoke', 'stream', 'streamEvents']) {
    hookedMethods.hook(prototype as Record<string, Method>, method, (agent: Agent, run, args) => {
      rememberAgent(agent);
      return run.apply(agent, args);
    });
  }
  hookGraph(prototype);
}

const hookedGraphs = processWide(
  '@actlog/langchain/hooked-graphs',
  () => new WeakMap<object, () => object>(),
);

/** Hooks the getter of the graph, which is used instead of the agent as a node of other graphs. */
function hookGraph(prototype: object): void {
  const get = Object.getOwnPropertyDescriptor(prototype, 'graph')?.get as (() => object) | undefined;
  if (!get || hookedGraphs().has(prototype)) return;
  hookedGraphs().set(prototype, get);
  const hooked = function (this: Agent) {
    rememberAgent(this);
    return get.call(this);
  };
  Object.defineProperty(prototype, 'graph', { configurable: true, get: hooked });
}

function rememberAgent(agent: Agent): void {
  const { middleware = [] } = agent.options ?? {};
  if (!middleware.some((one) => middlewares().has(one))) return;
  const graph = hookedGraphs()
    .get(Object.getPrototypeOf(agent) as object)
    ?.call(agent);
  for (const node of toolNodesOf({ graph })) ownNodes().add(node);
}
