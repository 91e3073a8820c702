import { ActionDeniedError } from '@actlog/recorder';
import type { AdapterCalls } from '@actlog/recorder/adapter';
import { ToolMessage } from '@langchain/core/messages';
import { WatchedCall } from './changed-call.ts';
import { processCoverage } from './coverage.ts';
import { runCounted } from './denied-runs.ts';
import { hookedMethods } from './hooked-methods.ts';
import { surroundings } from './langchain-calls.ts';
import { isOwnNode } from './own-agents.ts';
import { asRecordedCall, asSeenCall, recorderAround } from './recorded-calls.ts';
import { conversationOf, currentRun, messagesOf, nodeMessages, type RunContext } from './run-context.ts';
import { noteMessages } from './shown-texts.ts';
import { errorMessage, type ModelCall } from './tool-message.ts';
import { thrownByTool } from './tool-outcome.ts';
import { isWrapped } from './wrapped-tools.ts';

/** Node of a graph that runs the tool calls of a message. */
interface ToolNode {
  readonly tools: readonly { readonly name: string }[];
  /** Chain of the agent's middleware. */
  readonly wrapToolCall?: unknown;
  /** Signal that `createAgent` was given. */
  readonly signal?: AbortSignal | undefined;
  run(...args: unknown[]): Promise<unknown>;
  runTool(...args: unknown[]): Promise<unknown>;
}

/** A call in a tool node. */
interface NodeCall {
  readonly node: ToolNode;
  /** Undefined if the node does not have the tool. */
  readonly tool: object | undefined;
  readonly call: ModelCall;
  readonly config: RunContext;
  readonly run: () => Promise<unknown>;
}

/** States that nodes were invoked with, by the configuration of the run: older versions do not pass them on. */
const states = new WeakMap<object, unknown>();

/**
 * Hooks nodes that run tool calls, which see unknown tools and invalid arguments too, and in agents the call as their
 * middleware receives it.
 */
export function hookToolNodes(prototype: object): void {
  const nodes = prototype as ToolNode;
  hookedMethods.hook(nodes, 'run', (node: ToolNode, run, args) => {
    const [state, config] = args as [unknown, object];
    states.set(config, state);
    return run.apply(node, args);
  });
  hookedMethods.hook(nodes, 'runTool', (node: ToolNode, runTool, args) => {
    const [call, config] = args as [ModelCall, RunContext];
    const run = async () => runTool.apply(node, args);
    const calls = recorderAround() ?? processCoverage.current;
    if (!calls) return run();
    const tool = node.tools.find(({ name }) => name === call.name);
    const nodeCall = { node, tool, call, config, run };
    if (calls.covers(call.name) && !isOwnNode(node) && !isWrapped(tool))
      return recordNodeCall(nodeCall, calls);
    noteState(nodeCall, calls);
    return asSeenCall({ toolName: call.name, callId: call.id, tool }, run);
  });
}

async function recordNodeCall(nodeCall: NodeCall, calls: AdapterCalls): Promise<unknown> {
  const { node, tool, call: modelCall, config, run } = nodeCall;
  const called = { toolName: modelCall.name, callId: modelCall.id };
  const place = surroundings(calls, { ...called, run: runOf(config), messages: messagesIn(config) });
  noteState(nodeCall, calls);
  const signal = anySignal(node.signal, config.signal);
  const call = { ...place, ...called, arguments: modelCall.args, signal };
  const watched = await WatchedCall.of(call, calls);
  try {
    return await runCounted(calls, call, async () => {
      const result = await asRecordedCall({ ...call, calls, tool, watched }, run);
      if (isResultOfError(node, result)) watched.noteResult();
      return result;
    });
  } catch (error) {
    const thrown = thrownByTool(error);
    if (!ActionDeniedError.isInstance(thrown)) throw error;
    return errorMessage(modelCall, thrown.message, thrown);
  }
}

/** Returns `true` for the result of a call whose tool threw: the node reports the error to the model. */
function isResultOfError({ wrapToolCall }: ToolNode, result: unknown): boolean {
  // Middleware may have found another result, and older versions do not mark their own messages as errors.
  return wrapToolCall === undefined || (ToolMessage.isInstance(result) && result.status === 'error');
}

function anySignal(...signals: readonly (AbortSignal | undefined)[]): AbortSignal | undefined {
  const given = signals.filter((signal) => signal !== undefined);
  return given.length > 1 ? AbortSignal.any(given) : given[0];
}

/** Notes the texts in the state of a graph, for the origins of arguments. */
function noteState({ config }: NodeCall, calls: AdapterCalls): void {
  noteMessages(calls, () => {
    const messages = messagesIn(config);
    return { messages, sessionId: conversationOf(runOf(config), messages, calls) };
  });
}

function messagesIn(config: RunContext): unknown {
  return messagesOf(states.get(config)) ?? nodeMessages(config);
}

function runOf({ configurable }: RunContext): RunContext {
  return { ...currentRun(), configurable };
}
