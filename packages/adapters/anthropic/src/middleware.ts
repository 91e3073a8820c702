import { conversationSession, currentSessionId } from '@actlog/recorder/adapter';
import type { Middleware, MiddlewareContext } from '@anthropic-ai/sdk';
import { anthropicCalls } from './anthropic-calls.ts';
import { type AnyMessage, blocksOf, isToolUse } from './message-blocks.ts';
import { MessageCalls } from './message-calls.ts';
import type { ActlogOptions } from './options.ts';
import { type StreamedBlock, streamedBlocks } from './streamed-blocks.ts';
import { threadSessions } from './threads.ts';
import { toolUses } from './tool-uses.ts';
import { watched } from './watched-response.ts';

/** A request for a message. */
interface MessageRequest {
  readonly messages: readonly AnyMessage[];
  readonly sessionId: string | undefined;
  readonly isStreamed: boolean;
  /** Whether the service keeps the conversation, to be continued from the answer. */
  readonly isOfThread: boolean;
}

/** The parts of a request's body that matter here. */
interface MessageBody {
  readonly messages?: unknown;
  readonly thread?: { readonly previous_message_id?: string } | null;
}

/**
 * The middleware behind `actlog.middleware()`. It records only: when it sees a call of yours, that has been run, or
 * is for you to run.
 */
export function recordMiddleware(options: Omit<ActlogOptions, 'guard'> = {}): Middleware {
  const calls = new MessageCalls(anthropicCalls(options));
  return async (request, next, context) => {
    const sent = unfelt(() => messageRequest(context));
    if (!sent) return next(request);
    unfelt(() => calls.sent(sent.messages));
    const response = await next(request);
    if (!response.ok) return response;
    unfelt(() => MessageCalls.taken(sent.messages));
    if (sent.isStreamed) return seenAsRead(response, context, sent, calls);
    await seenWhole(response, context, sent, calls).catch(ignore);
    return response;
  };
}

/** What goes wrong in here, as in a message that is not as expected, must not reach the agent. */
function unfelt<Value>(run: () => Value): Value | undefined {
  try {
    return run();
  } catch {
    return undefined;
  }
}

function ignore(): void {}

/** The request that is made, where it is one for a message. */
function messageRequest({ options }: MiddlewareContext): MessageRequest | undefined {
  const { method, path = '', body, stream = false, openTelemetry } = options ?? {};
  const { messages, thread } = (body ?? {}) as MessageBody;
  if (method !== 'post' || path.split('?')[0] !== '/v1/messages' || !Array.isArray(messages))
    return undefined;
  return {
    messages,
    sessionId: openTelemetry?.conversationId || sessionOf(messages, thread?.previous_message_id),
    isStreamed: stream,
    isOfThread: Boolean(thread),
  };
}

/**
 * The session of a request that the application names no conversation of, for its traces: that of the calls whose
 * results are sent; else the surrounding one; else that of the thread that is continued; else that of the messages.
 */
function sessionOf(
  messages: readonly AnyMessage[],
  previousMessageId: string | undefined,
): string | undefined {
  const results = blocksOf(messages.at(-1)).filter(({ type }) => type === 'tool_result');
  const [known] = results.flatMap(({ tool_use_id: id = '' }) => toolUses().find(id)?.sessionId ?? []);
  return (
    known ?? currentSessionId() ?? threadSessions.get(previousMessageId) ?? conversationSession(messages)
  );
}

async function seenWhole(
  response: Response,
  context: MiddlewareContext,
  { sessionId, isOfThread }: MessageRequest,
  calls: MessageCalls,
): Promise<void> {
  const message = await context.parse<AnyMessage>(response);
  if (isOfThread) threadSessions.note(message.id, sessionId);
  for (const block of blocksOf(message)) {
    toolUses().renew(block.id);
    calls.answered(block, sessionId);
  }
}

/** The response for the caller, from which the message is seen as the caller reads it. */
function seenAsRead(
  response: Response,
  context: MiddlewareContext,
  { sessionId, isOfThread }: MessageRequest,
  calls: MessageCalls,
): Response {
  const both = unfelt(() => watched(response));
  const parsed = both ? parsedCopy(both.copy, context) : context.parse<AsyncIterable<never>>(response);
  const begin = ({ id }: AnyMessage) => isOfThread && threadSessions.note(id, sessionId);
  const end = toolUses().beginStream();
  parsed
    .then((stream) => seenStream(streamedBlocks(stream, begin), sessionId, calls))
    .catch(ignore)
    .finally(end);
  return both?.response ?? response;
}

async function parsedCopy(copy: Response, context: MiddlewareContext): Promise<AsyncIterable<never>> {
  const stream = await context.parse<AsyncIterable<never>>(copy);
  // It is a clone's, and the copy itself would keep for its own reader what the clone reads.
  copy.body?.cancel().catch(ignore);
  return stream;
}

async function seenStream(
  blocks: AsyncIterable<StreamedBlock>,
  sessionId: string | undefined,
  calls: MessageCalls,
): Promise<void> {
  for await (const { block, isWhole } of blocks) {
    // A tool may start before the answer is whole, and its call is known by then.
    if (!isWhole) toolUses().renew(block.id);
    if (isWhole || isToolUse(block)) calls.answered(block, sessionId);
  }
}
