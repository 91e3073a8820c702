import { type AdapterCalls, type Method, MethodHooks } from '@actlog/recorder/adapter';
import { coverage } from './agents-calls.ts';

/** An agent of any context and output. */
interface AnyAgent {
  readonly clone: (config: never) => unknown;
  /** Agents, and handoffs that refer to one. */
  readonly handoffs: readonly unknown[];
}

/** Covers an agent, its clones, and the agents that it hands over to. */
export function coverAgent(agent: AnyAgent, calls: AdapterCalls): void {
  coverage().agents.set(agent, calls);
  hookClone(agent);
  reachHandoffs(agent, calls, new Set([agent]));
}

/**
 * Covers an agent that a covered agent has reached, also in later runs: the SDK's examples continue with
 * `run(result.lastAgent, result.history)`.
 */
export function reachAgent(agent: AnyAgent, calls: AdapterCalls): void {
  reach(agent, calls, new Set());
}

function reach(agent: AnyAgent, calls: AdapterCalls, visited: Set<AnyAgent>): void {
  if (visited.has(agent)) return;
  visited.add(agent);
  const { agents, reached } = coverage();
  if (!agents.has(agent)) {
    reached.set(agent, calls);
    hookClone(agent);
  }
  reachHandoffs(agent, agents.get(agent) ?? calls, visited);
}

function reachHandoffs({ handoffs }: AnyAgent, calls: AdapterCalls, visited: Set<AnyAgent>): void {
  for (const handoff of Array.isArray(handoffs) ? handoffs : []) {
    const agent: unknown = isAgent(handoff) ? handoff : (handoff as { agent?: unknown } | undefined)?.agent;
    if (isAgent(agent)) reach(agent, calls, visited);
  }
}

function isAgent(value: unknown): value is AnyAgent {
  return typeof value === 'object' && value !== null && 'handoffs' in value && 'clone' in value;
}

/** Covers clones of agents like the originals, so that a copy with other instructions does not bypass the guard. */
function hookClone(agent: AnyAgent): void {
  // Some kinds of agents, such as sandbox agents, override `clone`.
  let kind: AnyAgent = agent;
  while (!Object.hasOwn(kind, 'clone')) kind = Object.getPrototypeOf(kind);
  hookedMethods.hook(kind, 'clone', (cloned: AnyAgent, clone: Method<AnyAgent>, args) => {
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
