import { ActionDeniedError, type ApprovedChange, responseStatuses } from '@actlog/recorder';
import { type AdapterCalls, chatTexts, noteTexts, refuseOptionsOfFunctions } from '@actlog/recorder/adapter';
import { type ActlogOptions, anthropicCalls, withNotice } from './anthropic-calls.ts';
import { blocksOf, type MessageBlock, MessageCalls } from './message-calls.ts';
import { toolUses } from './tool-uses.ts';

/** Context of a call, passed to its function beside the input. */
export interface ToolUseContext {
  /** The call: a `tool_use` block of the message. */
  readonly toolUse: { readonly id: string; readonly name: string; readonly input: unknown };
  /** Signal passed with the message. */
  readonly signal?: AbortSignal | undefined;
}

/** Tool functions by name; each receives the input as written by the model. */
export type LoopFunctions<Content = unknown> = Readonly<
  Record<string, (input: never, context: ToolUseContext) => Content | Promise<Content>>
>;

/** A function for all tools. */
export type RunToolUse<Content = unknown> = (
  toolUse: ToolUseContext['toolUse'],
  context: ToolUseContext,
) => Content | Promise<Content>;

/** Message with the results of a message's calls, to be sent to the model. */
export interface ToolResultMessage<Content> {
  readonly role: 'user';
  content: ToolResult<Content>[];
}

/** Options beside the message. */
export interface RunCallsOptions {
  /** Aborts the wait for a person's decision, and is passed to the functions. */
  readonly signal?: AbortSignal | undefined;
  /** The conversation so far, which identifies its session and has what the user wrote, for `origins`. */
  readonly messages?: readonly unknown[] | undefined;
  /** The system prompt, for `origins`. */
  readonly system?: string | readonly unknown[] | undefined;
}

/**
 * Runs all tool calls of a message at once and returns the message with their results; undefined if there are no calls
 * or the message did not end with a request for them. Errors of tools become results for the model.
 *
 * @throws the reason of `signal` when it aborts while a call is held
 */
export type RunCalls<Content> = (
  message: {
    readonly content: readonly unknown[];
    /** If present, only `tool_use` runs calls: the last call of a truncated message may be incomplete. */
    readonly stop_reason?: string | null | undefined;
  },
  options?: RunCallsOptions,
) => Promise<ToolResultMessage<Content> | undefined>;

/**
 * Creates the function that a manual loop calls with each message of its model.
 *
 * @param functions - functions by the names of their tools, or one function for all tools
 */
export function callRunner<Content = string>(
  functions: LoopFunctions<Content> | RunToolUse<Content>,
  options?: ActlogOptions,
): RunCalls<Content> {
  refuseOptionsOfFunctions(functions, options, 'actlog.callRunner(functions, { guard })');
  const calls = anthropicCalls(options ?? {});
  const seen = new MessageCalls(calls);
  return async (message, { signal, messages, system } = {}) => {
    const sessionId = calls.conversations.sessionOf(messages);
    const hasCalls = message.stop_reason === undefined || message.stop_reason === 'tool_use';
    const blocks = blocksOf(message).filter(({ type }) => hasCalls || type !== 'tool_use');
    noteTexts(calls, () => {
      const texts = chatTexts(messages);
      return {
        sessionId: knownSession(blocks) ?? sessionId,
        user: texts.user,
        system: [system, ...texts.system],
      };
    });
    for (const block of blocks) if (isNewTo(calls.recorder, block)) seen.received(block, sessionId, messages);
    const uses = blocks.filter(({ type }) => type === 'tool_use') as (MessageBlock & CalledTool)[];
    if (uses.length === 0) return undefined;
    const results = uses.map((toolUse) =>
      resultOf(toolUse, signal, () => recordedRun(calls, functions, { toolUse, signal })),
    );
    return { role: 'user', content: await Promise.all(results) };
  };
}

/** Returns the session in which the middleware has seen the calls of a message. */
function knownSession(blocks: readonly MessageBlock[]): string | undefined {
  const [known] = blocks.flatMap(({ id = '' }) => toolUses().find(id)?.sessionId ?? []);
  return known;
}

/**
 * Returns `true` if the block has not been reported before, and claims the call for this recorder. An id that has
 * already been recorded belongs to another call, if a service reuses ids.
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
  functions: LoopFunctions<Content> | RunToolUse<Content>,
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
    acceptsChanges: true,
  };
  const isCovered = calls.covers(name);
  if (typeof functions !== 'function' && !Object.hasOwn(functions, name)) {
    const error = new ToolNotFoundError(name);
    if (isCovered) calls.record(call, { ok: false, error });
    throw error;
  }
  const run = async (args: unknown, change?: ApprovedChange) => {
    const used = change ? { ...context, toolUse: { ...toolUse, input: args } } : context;
    const content = await (typeof functions === 'function'
      ? functions(used.toolUse as never, used)
      : (functions[name] as (input: unknown, context: ToolUseContext) => Content)(args, used));
    return change ? (withNotice(content, change) as Content) : content;
  };
  return isCovered ? calls.run(call, run) : run(input);
}

/** Result of a call: a `tool_result` block. */
interface ToolResult<Content> {
  readonly type: 'tool_result';
  readonly tool_use_id: string;
  readonly content: Content | string;
  readonly is_error?: boolean;
}

/** Error thrown for a call of an unknown tool, with the text of the SDK's tool runner. */
class ToolNotFoundError extends Error {
  override readonly name = 'ToolNotFoundError';
  readonly status = responseStatuses.unknownTool;

  constructor(toolName: string) {
    super(`Tool '${toolName}' not found`);
  }
}

/**
 * Runs a call and returns its result like the SDK's tool runner: errors become results for the model.
 *
 * @throws the error of `run` if `signal` has aborted, because there is no further request
 */
async function resultOf<Content>(
  { id, toolset_name }: { readonly id: string; readonly toolset_name?: string | null },
  signal: AbortSignal | undefined,
  run: () => Promise<Content>,
): Promise<ToolResult<Content>> {
  // The API requires results of a toolset to name it.
  const result = { type: 'tool_result' as const, tool_use_id: id, ...(toolset_name && { toolset_name }) };
  try {
    return { ...result, content: await run() };
  } catch (error) {
    if (signal?.aborted) throw error;
    return { ...result, content: contentOf<Content>(error), is_error: true };
  }
}

function contentOf<Content>(error: unknown): Content | string {
  if (ActionDeniedError.isInstance(error)) return error.message;
  // A ToolError of any copy of the SDK.
  const { name, content, message } = (error ?? {}) as {
    name?: unknown;
    content?: Content;
    message?: unknown;
  };
  if (name === 'ToolError' && content !== undefined) return content;
  return `Error: ${typeof message === 'string' ? message : String(error)}`;
}
