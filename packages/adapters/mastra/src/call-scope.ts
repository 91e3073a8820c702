import { AsyncLocalStorage } from 'node:async_hooks';
import { type BegunCall, type HookedCall, MethodHooks, processWide } from '@actlog/recorder/adapter';
import { Agent } from '@mastra/core/agent';
import type { ToolHooks } from '@mastra/core/tools';
import type { RecordedCalls } from './recorded-calls.ts';

/** Maximum number of agents by id to remember. */
const maxAgents = 1000;

const methods = new MethodHooks('@actlog/mastra/instructions-methods');

/** Instructions that Mastra has read, as its messages or strings. */
const known = processWide('@actlog/mastra/instructions', () => ({
  /** By the request context of the run. */
  byRun: new WeakMap<object, readonly unknown[]>(),
  /** The latest by the agent's id, for tools: older versions of Mastra pass them a copy of the request context. */
  byAgent: new Map<string, readonly unknown[]>(),
}));

/**
 * Makes agents remember the instructions of a run, for argument origins, because Mastra passes them to no hook. Hooks
 * the method with which Mastra reads them, so that the user's function for them is not called again.
 */
export function hookInstructions(): void {
  methods.hook(Agent.prototype, 'getInstructions', (agent: Agent, getInstructions, args) => {
    const instructions = getInstructions.apply(agent, args);
    const { requestContext } = (args[0] ?? {}) as { readonly requestContext?: unknown };
    void note(agent.id, requestContext, instructions);
    return instructions;
  });
}

/** Returns the instructions of an agent's run. */
export function instructionsOf(
  agentId: string | undefined,
  requestContext: object | undefined,
): readonly unknown[] {
  const { byRun, byAgent } = known();
  return (requestContext && byRun.get(requestContext)) ?? byAgent.get(agentId ?? '') ?? [];
}

async function note(agentId: string, requestContext: unknown, instructions: unknown): Promise<void> {
  const { byRun, byAgent } = known();
  try {
    const read: unknown[] = [await instructions].flat();
    if (typeof requestContext === 'object' && requestContext !== null)
      byRun.set(requestContext, [...(byRun.get(requestContext) ?? []), ...read]);
    byAgent.set(agentId, read);
    const [oldest] = byAgent.keys();
    if (byAgent.size > maxAgents && oldest !== undefined) byAgent.delete(oldest);
  } catch {
    // The user's function failed, and with it the run.
  }
}

/** The call that code runs in, as seen by hooks. */
export interface CallScope {
  /** Context that Mastra passes to the tool: one object per call. */
  readonly invocation: object;
  readonly call: HookedCall;
  /** Session of agents that the call delegates to; undefined if the tool is not an agent. */
  readonly delegatedSession: string | undefined;
  /** Creates recording hooks for agents inside the call, around their hooks; undefined outside hooks. */
  readonly cover?: ((own: ToolHooks) => ToolHooks) | undefined;
  /** Recorders of the call by a hook. */
  readonly recordedBy: Set<RecordedCalls>;
  /** Function of the tool that runs as the call, once it does. */
  tool?: object;
  /** Span of the call, once started. */
  spanId?: string;
  /** Makes the following code part of a call that begins later; shared by nested hooks. */
  enterCall?: (call: BegunCall) => void;
  /** Arguments that Mastra derived and passed to a wrapped tool. */
  handedOver?: { readonly input: unknown };
}

const storage = processWide('@actlog/mastra/call-scope', () => new AsyncLocalStorage<CallScope>());

/** Uses the storage once before agents run, as the recorder does: Node.js 22 tracks a storage from its first use. */
export function prepareScopes(): void {
  const call = { toolName: '', arguments: undefined };
  const nowhere: CallScope = { invocation: {}, call, delegatedSession: undefined, recordedBy: new Set() };
  storage().run(nowhere, () => {});
}

/** Returns the innermost call that code runs in. */
export function currentScope(): CallScope | undefined {
  return storage().getStore();
}

/**
 * Makes the following code, up to the end of the tool, part of a call. Must be called before a hook's first `await`.
 * Nested hooks share the scope.
 */
export function enterScope(scope: Omit<CallScope, 'recordedBy'>): CallScope {
  const current = currentScope();
  if (current?.invocation === scope.invocation) return current;
  const entered: CallScope = { ...scope, recordedBy: new Set() };
  storage().enterWith(entered);
  return entered;
}

/**
 * Returns the arguments from the model if a hook has seen this very call, because Mastra fills in the schema's defaults
 * afterwards; otherwise the tool's input.
 */
export function modelArguments(toolName: string, callId: string | undefined, input: unknown): unknown {
  const scope = currentScope();
  const isSame = scope && scope.call.callId === callId && scope.call.toolName === toolName;
  if (!isSame || callId === undefined) return input;
  scope.handedOver ??= { input };
  return scope.handedOver.input === input ? scope.call.arguments : input;
}

/** Returns the agent whose tool runs here; undefined if that tool delegates to another agent. */
export function callingAgent(): string | undefined {
  const scope = currentScope();
  return scope?.delegatedSession === undefined ? scope?.call.agentId : undefined;
}
