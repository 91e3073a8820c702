import {
  type AdapterCalls,
  chatTexts,
  currentSessionId,
  noteTexts,
  type RecordOnlyOptions,
  refuseGuard,
  SessionsById,
} from '@actlog/recorder/adapter';
import type { Middleware, MiddlewareContext } from '@anthropic-ai/sdk';
import { type ActlogOptions, anthropicCalls, deniedRuns } from './anthropic-calls.ts';
import { type AnyMessage, blocksOf, isToolUse, type MessageBlock, MessageCalls } from './message-calls.ts';
import { toolUses } from './tool-uses.ts';

/** A response for the caller, and a copy of everything the caller reads. */
interface WatchedResponse {
  readonly response: Response;
  readonly copy: Response;
}

/**
 * Copies a stream as the caller reads it, and no further: a clone would continue to read after the caller has stopped,
 * and canceling would wait for the clone. Undefined if the body is not a platform stream.
 */
function watched(response: Response): WatchedResponse | undefined {
  const { body, status, statusText, headers, url } = response;
  if (!(body instanceof ReadableStream)) return undefined;
  const isOfBytes = isByteStream(body);
  const reader = body.getReader() as ReadableStreamDefaultReader<Chunk>;
  const copy = new Copy();
  const source = {
    async pull(controller: Controller) {
      const { done, value } = await reader.read().catch((error: unknown) => {
        copy.fail(error);
        throw error;
      });
      if (done) {
        copy.end();
        controller.close();
        // A BYOB reader only gets its response this way.
        if ('byobRequest' in controller) controller.byobRequest?.respond(0);
        return;
      }
      copy.add(value);
      controller.enqueue(value as never);
    },
    cancel(reason: unknown) {
      copy.end();
      return reader.cancel(reason);
    },
  };
  // Read nothing ahead of the caller.
  const passed = isOfBytes
    ? new ReadableStream({ ...source, type: 'bytes' })
    : new ReadableStream(source, { highWaterMark: 0 });
  const init = { status, statusText, headers };
  const callers = Object.defineProperty(new Response(passed as ReadableStream, init), 'url', { value: url });
  return { response: callers, copy: new Response(copy.stream as ReadableStream, init) };
}

type Controller = ReadableStreamDefaultController<unknown> | ReadableByteStreamController;

/** Usually bytes; a user's `fetch` may return text. */
type Chunk = Uint8Array | string;

function isByteStream(stream: ReadableStream): boolean {
  try {
    stream.getReader({ mode: 'byob' }).releaseLock();
    return true;
  } catch {
    return false;
  }
}

/** A stream of chunks that are written to it. Accepts them even without a reader: the caller must be unaffected. */
class Copy {
  #controller: ReadableStreamDefaultController<Chunk> | undefined;
  readonly stream = new ReadableStream<Chunk>({
    start: (controller) => {
      this.#controller = controller;
    },
    cancel: () => {
      this.#controller = undefined;
    },
  });

  add(chunk: Chunk): void {
    try {
      // The caller's stream detaches the bytes.
      this.#controller?.enqueue(chunk.slice());
    } catch (error) {
      this.fail(error); // a user's `fetch` returned an invalid chunk
    }
  }

  end(): void {
    this.#controller?.close();
    this.#controller = undefined;
  }

  fail(error: unknown): void {
    this.#controller?.error(error);
    this.#controller = undefined;
  }
}

/** A request for a message. */
interface MessageRequest {
  readonly messages: readonly AnyMessage[];
  readonly sessionId: string | undefined;
  readonly isStreamed: boolean;
  /** `true` if the service stores the conversation, which then continues from the response. */
  readonly isOfThread: boolean;
  readonly system: unknown;
  /** `true` if the model may call tools. */
  readonly offersTools: boolean;
}

/** Relevant fields of a request body. */
interface MessageBody {
  readonly messages?: unknown;
  readonly thread?: { readonly previous_message_id?: string } | null;
  readonly system?: unknown;
  readonly tools?: readonly unknown[];
  readonly mcp_servers?: readonly unknown[];
}

/**
 * Creates the middleware behind `actlog.middleware()`. Records only: when it sees a call of your tools, the call has
 * already run, or is yours to run. A request that would continue after the model has repeated a denied call too often
 * is not sent: it rejects with the denial.
 */
export function recordMiddleware(options: RecordOnlyOptions<ActlogOptions> = {}): Middleware {
  refuseGuard(options, 'actlog(tools, { guard })');
  const own = anthropicCalls(options);
  const calls = new MessageCalls(own);
  return async (request, next, context) => {
    const sent = ignoreErrors(() => messageRequest(context, own));
    if (!sent) return next(request);
    // A request without tools, for example for a summary, may contain tool results as user text.
    if (sent.offersTools) noteTexts(own, () => textsOf(sent));
    ignoreErrors(() => calls.sent(sent.messages));
    // The tool runner has no default limit on turns and does not see errors of tools.
    const denial = ignoreErrors(() => deniedRuns().sent(sent.messages, sent.sessionId));
    if (denial) throw denial;
    const response = await next(request);
    if (!response.ok) return response;
    ignoreErrors(() => MessageCalls.taken(sent.messages));
    if (sent.isStreamed) return seenAsRead(response, context, sent, calls);
    await seenWhole(response, context, sent, calls).catch(ignore);
    return response;
  };
}

/** Runs a function whose errors must not reach the agent, for example for an unexpected message. */
function ignoreErrors<Value>(run: () => Value): Value | undefined {
  try {
    return run();
  } catch {
    return undefined;
  }
}

function ignore(): void {}

/** Returns the request if it is one for a message. */
function messageRequest({ options }: MiddlewareContext, calls: AdapterCalls): MessageRequest | undefined {
  const { method, path = '', body, stream = false, openTelemetry } = options ?? {};
  const { messages, thread, system, tools, mcp_servers: servers } = (body ?? {}) as MessageBody;
  if (method !== 'post' || path.split('?')[0] !== '/v1/messages' || !Array.isArray(messages))
    return undefined;
  return {
    messages,
    sessionId: openTelemetry?.conversationId || sessionOf(messages, thread?.previous_message_id, calls),
    isStreamed: stream,
    isOfThread: Boolean(thread),
    system,
    offersTools: Boolean(tools?.length || servers?.length),
  };
}

/** Returns what the user and the developer wrote in a request. */
function textsOf({ messages, system, sessionId }: MessageRequest) {
  const texts = chatTexts(messages);
  return { sessionId, user: texts.user, system: [system, ...texts.system] };
}

/**
 * Returns the session of a request: from the calls whose results are sent, the surrounding `session.run`, the continued
 * thread or the messages, in this order. The caller prefers the conversation that the application names for its traces.
 */
function sessionOf(
  messages: readonly AnyMessage[],
  previousMessageId: string | undefined,
  calls: AdapterCalls,
): string | undefined {
  const results = blocksOf(messages.at(-1)).filter(({ type }) => type === 'tool_result');
  const [known] = results.flatMap(({ tool_use_id: id = '' }) => toolUses().find(id)?.sessionId ?? []);
  return (
    known ??
    currentSessionId() ??
    threadSessions.get(previousMessageId) ??
    calls.conversations.sessionOf(messages)
  );
}

async function seenWhole(
  response: Response,
  context: MiddlewareContext,
  { sessionId, isOfThread, messages }: MessageRequest,
  calls: MessageCalls,
): Promise<void> {
  const message = await context.parse<AnyMessage>(response);
  if (isOfThread) threadSessions.note(message.id, sessionId);
  for (const block of blocksOf(message)) {
    toolUses().renew(block.id);
    calls.received(block, sessionId, messages);
  }
}

/** Returns the response for the caller, and observes the message as the caller reads it. */
function seenAsRead(
  response: Response,
  context: MiddlewareContext,
  request: MessageRequest,
  calls: MessageCalls,
): Response {
  const { sessionId, isOfThread } = request;
  const both = ignoreErrors(() => watched(response));
  const parsed = both ? parsedCopy(both.copy, context) : context.parse<AsyncIterable<never>>(response);
  const begin = ({ id }: AnyMessage) => isOfThread && threadSessions.note(id, sessionId);
  const end = toolUses().beginStream();
  parsed
    .then((stream) => seenStream(streamedBlocks(stream, begin), request, calls))
    .catch(ignore)
    .finally(end);
  return both?.response ?? response;
}

async function parsedCopy(copy: Response, context: MiddlewareContext): Promise<AsyncIterable<never>> {
  const stream = await context.parse<AsyncIterable<never>>(copy);
  // `parse` reads a clone, and the copy itself would buffer everything the clone reads.
  copy.body?.cancel().catch(ignore);
  return stream;
}

async function seenStream(
  blocks: AsyncIterable<StreamedBlock>,
  { sessionId, messages }: MessageRequest,
  calls: MessageCalls,
): Promise<void> {
  for await (const { block, isWhole } of blocks) {
    // A tool may start before the response is complete, and its call must be known before that.
    if (!isWhole) toolUses().renew(block.id);
    if (isWhole || isToolUse(block)) calls.received(block, sessionId, messages);
  }
}

/** Sessions of messages that a thread may continue from, because such a request contains only new messages. */
const threadSessions: SessionsById = new SessionsById('@actlog/anthropic/threads');

/** Stream events that build the blocks of a message. */
interface StreamEvent {
  readonly type: string;
  readonly index?: number;
  readonly message?: AnyMessage;
  readonly content_block?: MessageBlock;
  readonly delta?: { readonly type?: string; readonly partial_json?: string };
}

/** A block of a streamed message. */
interface StreamedBlock {
  readonly block: MessageBlock;
  /** `false` if the block has started and its input is incomplete. */
  readonly isWhole: boolean;
}

/**
 * Yields the blocks of a streamed message, each when it starts and when it is complete.
 *
 * @param begin - called with the message, without its blocks, when it starts
 */
async function* streamedBlocks(
  events: AsyncIterable<StreamEvent>,
  begin: (message: AnyMessage) => void,
): AsyncGenerator<StreamedBlock> {
  const begun = new Map<number, { readonly block: MessageBlock; json: string }>();
  for await (const { type, index = -1, message, content_block, delta } of events) {
    const open = begun.get(index);
    if (type === 'message_start' && message) begin(message);
    else if (type === 'content_block_start' && content_block) {
      begun.set(index, { block: content_block, json: '' });
      yield { block: content_block, isWhole: false };
    } else if (type === 'content_block_delta' && open && delta?.type === 'input_json_delta') {
      open.json += delta.partial_json ?? '';
    } else if (type === 'content_block_stop' && open) {
      begun.delete(index);
      yield { block: { ...open.block, ...inputOf(open.json) }, isWhole: true };
    }
  }
}

function inputOf(json: string): Pick<MessageBlock, 'input'> | undefined {
  try {
    return json === '' ? undefined : { input: JSON.parse(json) };
  } catch {
    return undefined; // the response was truncated
  }
}
