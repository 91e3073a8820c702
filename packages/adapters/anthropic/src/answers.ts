import { type AdapterCalls, conversationSession } from '@actlog/recorder/adapter';
import { anthropicCalls } from './anthropic-calls.ts';
import { blocksOf, type MessageBlock } from './message-blocks.ts';
import { MessageCalls } from './message-calls.ts';
import type { ActlogOptions } from './options.ts';
import { resultOf, ToolNotFoundError, type ToolResult } from './tool-result.ts';
import { toolUses } from './tool-uses.ts';

/** What a call is run with beside its input. */
export interface ToolUseContext {
  /** The call: a `tool_use` block of the message. */
  readonly toolUse: { readonly id: string; readonly name: string; readonly input: unknown };
  /** What was given for the message. */
  readonly signal?: AbortSignal | undefined;
}

/** Functions by the names of the tools that they are; each is given the input as the model wrote it. */
export type ToolFunctions<Content = unknown> = Readonly<
  Record<string, (input: never, context: ToolUseContext) => Content | Promise<Content>>
>;

/** One function for all tools. */
export type RunToolUse<Content = unknown> = (
  toolUse: ToolUseContext['toolUse'],
  context: ToolUseContext,
) => Content | Promise<Content>;

/** The message that answers the calls of another. */
export interface AnsweredMessage<Content> {
  readonly role: 'user';
  content: ToolResult<Content>[];
}

/**
 * Runs what a message asks for, all calls at once, and gives the message that answers it; undefined when it asks for
 * nothing, or ended otherwise than by asking. What a tool throws is told to the model.
 *
 * @throws the reason of `signal`, when it aborts while a call is held
 */
export type Answers<Content> = (
  message: {
    readonly content: readonly unknown[];
    /** Where it is told, only `tool_use` has calls run: a message that was cut off may lack a part of the last one. */
    readonly stop_reason?: string | null | undefined;
  },
  given?: {
    /** Ends the wait for a person's approval, and is passed on to the functions. */
    readonly signal?: AbortSignal | undefined;
    /** The conversation so far, by which its session is known. */
    readonly messages?: readonly unknown[] | undefined;
  },
) => Promise<AnsweredMessage<Content> | undefined>;

/** The helper behind `actlog.answers()`. */
export function answersOf<Content = string>(
  functions: ToolFunctions<Content> | RunToolUse<Content>,
  options: ActlogOptions = {},
): Answers<Content> {
  const calls = anthropicCalls(options);
  const seen = new MessageCalls(calls);
  return async (message, { signal, messages } = {}) => {
    const sessionId = conversationSession(messages);
    const asks = message.stop_reason === undefined || message.stop_reason === 'tool_use';
    const blocks = blocksOf(message).filter(({ type }) => asks || type !== 'tool_use');
    for (const block of blocks) if (isNewTo(calls.recorder, block)) seen.answered(block, sessionId);
    const uses = blocks.filter(({ type }) => type === 'tool_use') as (MessageBlock & CalledTool)[];
    if (uses.length === 0) return undefined;
    const results = uses.map((toolUse) =>
      resultOf(toolUse, signal, () => recordedRun(calls, functions, { toolUse, signal })),
    );
    return { role: 'user', content: await Promise.all(results) };
  };
}

/**
 * Whether nothing told of the block before. An id that was recorded is that of another call, which a service has used
 * again. The call now has this recorder.
 */
function isNewTo(recorder: object, { type, id = '' }: MessageBlock): boolean {
  const isKnown = toolUses().find(id) !== undefined;
  if (type !== 'tool_use') return !isKnown;
  const isUsedAgain = toolUses().isRecorded(id);
  toolUses().claim(id, recorder);
  return isUsedAgain || !isKnown;
}

type CalledTool = ToolUseContext['toolUse'];

async function recordedRun<Content>(
  calls: AdapterCalls,
  functions: ToolFunctions<Content> | RunToolUse<Content>,
  context: ToolUseContext,
): Promise<Content> {
  const { toolUse, signal } = context;
  const { id, name, input } = toolUse;
  const call = {
    toolName: name,
    arguments: input,
    callId: id,
    signal,
    sessionId: toolUses().find(id)?.sessionId,
  };
  const isCovered = calls.covers(name);
  if (typeof functions !== 'function' && !Object.hasOwn(functions, name)) {
    const error = new ToolNotFoundError(name);
    if (isCovered) calls.record(call, { ok: false, error });
    throw error;
  }
  const run = async () =>
    typeof functions === 'function'
      ? functions(toolUse, context)
      : (functions[name] as (input: unknown, context: ToolUseContext) => Content)(input, context);
  return isCovered ? calls.run(call, run) : run();
}
