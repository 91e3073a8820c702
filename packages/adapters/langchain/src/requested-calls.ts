import { type AdapterCalls, callDigest, newSessionId, processWide } from '@actlog/recorder/adapter';
import { HumanMessage } from '@langchain/core/messages';
import {
  coercedMessages,
  conversationOf,
  currentRun,
  isInGraph,
  nodeMessages,
  type RunContext,
} from './run-context.ts';

/** Maximum number of keys to remember; a call that a model requests has two. */
const maxKeys = 20_000;

/** Maximum number of requests to remember for a key. */
const maxRequests = 8;

/** A call in a model's response. */
export interface RequestedCall {
  readonly name: string;
  readonly id?: string | undefined;
  readonly args: unknown;
}

/** A call that a model has requested in a session. */
interface OpenRequest {
  readonly sessionId: string;
  /** `true` once the application has run the call. */
  isTaken: boolean;
}

/**
 * Calls that models have requested, whose tools the application runs itself. The application may pass on the call, its
 * id or only its arguments, and may have stored them as JSON in between.
 */
class OpenRequests {
  /** Sessions by the object of the arguments, which identifies a call best. */
  readonly #byArguments = new WeakMap<object, string>();
  readonly #byKey = new Map<string, OpenRequest[]>();

  /** Remembers a call that a model has requested. */
  add(call: RequestedCall, sessionId: string): void {
    const { args } = call;
    if (isObject(args)) this.#byArguments.set(args, sessionId);
    const request = { sessionId, isTaken: false };
    for (const key of keysOf(call)) {
      const others = this.#byKey.get(key) ?? [];
      this.#byKey.delete(key);
      this.#byKey.set(key, [...others.slice(1 - maxRequests), request]);
    }
    while (this.#byKey.size > maxKeys) this.#byKey.delete(this.#byKey.keys().next().value as string);
  }

  /**
   * Returns the session of the response that requested a call. If several conversations have requested the same one,
   * returns a new session, because the calls of two people must not get into one.
   *
   * @param call - the call; without an id if only its arguments were passed
   */
  take(call: RequestedCall): string | undefined {
    const { args } = call;
    const own = isObject(args) ? this.#byArguments.get(args) : undefined;
    const known = keysOf(call)
      .map((key) => this.#byKey.get(key))
      .find((requests) => requests !== undefined);
    const open = known?.filter(({ isTaken }) => !isTaken) ?? [];
    const candidates = (open.length > 0 ? open : (known ?? [])).filter(
      ({ sessionId }) => own === undefined || sessionId === own,
    );
    const [first] = candidates;
    if (!first) return own;
    if (candidates.some(({ sessionId }) => sessionId !== first.sessionId)) return newSessionId();
    first.isTaken = true;
    return first.sessionId;
  }
}

/** Returns the keys of a call: by its id, if it has one, and by its arguments, which are not kept in memory. */
function keysOf({ name, id, args }: RequestedCall): string[] {
  const byArguments = callDigest({ toolName: name, arguments: args });
  return id === undefined ? [byArguments] : [`${name}\n${id}`, byArguments];
}

function isObject(value: unknown): value is object {
  return typeof value === 'object' && value !== null;
}

/** Calls that models have requested outside of graphs. */
const openRequests = processWide('@actlog/langchain/open-requests', () => new OpenRequests());

/** Responses whose calls are remembered: a model without streaming streams the response of its `invoke`. */
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
 * Remembers the calls in a model's response, so that later turns of the conversation are recognized. Outside of a
 * graph, the application's loop runs them, and nothing else shows which conversation they belong to.
 */
export function rememberRequestedCalls(
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

/** Returns the messages in a model's input: a list, a prompt or a string. */
function messagesIn(input: unknown): unknown {
  if (typeof input === 'string') return [new HumanMessage(input)];
  const prompt = input as { readonly toChatMessages?: () => unknown } | null | undefined;
  if (typeof prompt?.toChatMessages === 'function') return prompt.toChatMessages();
  // Messages of a store or a request, which say less until they are objects of LangChain again.
  const isStored = Array.isArray(input) && input.some((one) => (one as { lc?: unknown } | null)?.lc === 1);
  return isStored ? coercedMessages(input) : input;
}
