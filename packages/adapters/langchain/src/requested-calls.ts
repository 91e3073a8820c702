import { type AdapterCalls, processWide } from '@actlog/recorder/adapter';
import { HumanMessage } from '@langchain/core/messages';
import { coercedMessages, isInGraph } from './graph-runs.ts';
import { OpenRequests, type RequestedCall } from './open-requests.ts';
import { conversationOf, currentRun, nodeMessages, type RunContext } from './run-context.ts';

/** Calls that models have requested outside of graphs. */
const openRequests = processWide('@actlog/langchain/open-requests', () => new OpenRequests());

/** Responses whose calls are noted: a model without streaming streams the response of its `invoke`. */
const noted = processWide('@actlog/langchain/noted-responses', () => new WeakSet<object>());

/** A response of a model. */
export interface ModelResponse {
  /** Any input of a model. */
  readonly input: unknown;
  readonly config: RunContext | undefined;
  readonly requested: readonly RequestedCall[];
  /** Message of the response, if there is a single one. */
  readonly message?: unknown;
}

/**
 * Notes the calls in a model's response, so that later turns of the conversation are recognized. Outside of a graph, a
 * loop of the application runs them, and nothing else shows which conversation they belong to.
 */
export function noteRequestedCalls(
  calls: AdapterCalls,
  { input, config, requested, message }: ModelResponse,
): void {
  if (requested.length === 0 || isNoted(message)) return;
  const run = currentRun();
  const messages = messagesIn(input);
  const isLoop = !isInGraph();
  const sessionId = isLoop
    ? conversationOf({ configurable: config?.configurable ?? run?.configurable }, messages, calls)
    : conversationOf(run, nodeMessages(run), calls);
  if (sessionId === undefined) return;
  for (const call of requested) {
    calls.conversations.note(messages, { toolName: call.name, callId: call.id }, sessionId);
    if (isLoop) openRequests().add(call, sessionId);
  }
}

/** Returns the session of the conversation in which a model has requested a call. */
export function requestingSession(call: RequestedCall): string | undefined {
  return openRequests().take(call);
}

function isNoted(message: unknown): boolean {
  if (typeof message !== 'object' || message === null) return false;
  if (noted().has(message)) return true;
  noted().add(message);
  return false;
}

/** Returns the messages in a model's input: a list, a prompt or a text. */
function messagesIn(input: unknown): unknown {
  if (typeof input === 'string') return [new HumanMessage(input)];
  const prompt = input as { readonly toChatMessages?: () => unknown } | null | undefined;
  if (typeof prompt?.toChatMessages === 'function') return prompt.toChatMessages();
  // Messages of a store or a request, which say less until they are objects of LangChain again.
  const isStored = Array.isArray(input) && input.some((one) => (one as { lc?: unknown } | null)?.lc === 1);
  return isStored ? coercedMessages(input) : input;
}
