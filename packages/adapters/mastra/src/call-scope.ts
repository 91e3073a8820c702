import { AsyncLocalStorage } from 'node:async_hooks';
import { type BegunCall, type HookedCall, processWide } from '@actlog/recorder/adapter';
import type { ToolHooks } from '@mastra/core/tools';
import type { RecordedCalls } from './recorded-calls.ts';

/** The call that code runs in, as seen by hooks. */
export interface CallScope {
  /** Context that Mastra passes to the tool: one object per call. */
  readonly invocation: object;
  readonly call: HookedCall;
  /** Session of agents that the call delegates to; undefined if the tool is not an agent. */
  readonly delegatedSession: string | undefined;
  /** Creates recording hooks for agents inside the call, around their own hooks; undefined outside hooks. */
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
 * afterwards; else the tool's input.
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
