import { responseStatuses, type ToolOutcome } from '@actlog/recorder';
import { type AdapterCalls, exitStatus, mcpErrorStatus } from '@actlog/recorder/adapter';
import { toolUses } from './tool-uses.ts';

/** Records the calls found in messages, each once. */
export class MessageCalls {
  readonly #calls: AdapterCalls;

  constructor(calls: AdapterCalls) {
    this.#calls = calls;
  }

  /**
   * Handles a block written by the model: remembers calls, and records those that Anthropic has run.
   *
   * @param messages - the conversation before the block, if known
   */
  received(block: MessageBlock, sessionId: string | undefined, messages?: readonly unknown[]): void {
    const { id, name, input } = block;
    if (isToolUse(block) && id !== undefined && name !== undefined) {
      if (messages) this.#calls.conversations.note(messages, { toolName: name, callId: id }, sessionId);
      toolUses().add(id, { toolName: name, input, sessionId });
    } else if (isServerResult(block)) {
      this.#record(block.tool_use_id, serverOutcome(block));
    }
  }

  /** Handles a conversation sent to the model: records the results at its end that nothing else has recorded. */
  sent(messages: readonly AnyMessage[]): void {
    const { requested, results } = lastCalls(messages);
    for (const block of results) {
      const use = requested.find(({ id }) => id === block.tool_use_id);
      const known = use && toolUses().find(use.id as string);
      if (use && known?.input === undefined) this.received(use, known?.sessionId);
      this.#record(block.tool_use_id, clientOutcome(block, use?.name ?? known?.toolName));
    }
  }

  /**
   * Releases the inputs of results that have been sent, because they may be long. Called when the model has responded.
   */
  static taken(messages: readonly AnyMessage[]): void {
    for (const { tool_use_id: id = '' } of lastCalls(messages).results) {
      const use = toolUses().find(id);
      if (use) toolUses().add(id, { ...use, input: undefined });
    }
  }

  #record(id: string | undefined, outcome: ReturnType<typeof clientOutcome>): void {
    const use = id === undefined ? undefined : toolUses().find(id);
    if (id === undefined || !use || !outcome || !this.#calls.covers(use.toolName)) return;
    const { recorder } = this.#calls;
    if (!toolUses().claim(id, recorder)) return;
    const { toolName, input, sessionId } = use;
    const refused = toolUses().takeRefused(use, recorder);
    this.#calls.recordLate(
      { toolName, arguments: input, callId: id, sessionId },
      refused ? { ok: false, error: refused.error } : outcome,
    );
  }
}

/** Returns the model's last tool calls and their results. */
function lastCalls(messages: readonly AnyMessage[]) {
  const lastResponse = messages.findLastIndex(({ role }) => role === 'assistant');
  const results = messages.slice(lastResponse + 1).flatMap(blocksOf);
  return {
    requested: blocksOf(messages[lastResponse]),
    results: results.filter(({ type }) => type === 'tool_result'),
  };
}

/** Properties of a message's blocks that relate to tool calls, with or without the beta API. */
export interface MessageBlock {
  readonly type: string;
  readonly id?: string;
  readonly name?: string;
  readonly input?: unknown;
  readonly toolset_name?: string | null;
  readonly tool_use_id?: string;
  readonly is_error?: boolean | null;
  readonly content?: unknown;
}

/** A message that is sent or received. */
export interface AnyMessage {
  readonly id?: string;
  readonly role?: string;
  readonly content?: unknown;
}

/** Returns the blocks of a message; plain text has none of interest. */
export function blocksOf(message: AnyMessage | undefined): readonly MessageBlock[] {
  return Array.isArray(message?.content) ? message.content : [];
}

/** Returns `true` if a block is a tool call: of the client, of Anthropic or of an MCP server that Anthropic calls. */
export function isToolUse({ type }: MessageBlock): boolean {
  return type === 'tool_use' || type === 'server_tool_use' || type === 'mcp_tool_use';
}

/** Returns `true` if a block is the result of a tool that Anthropic ran. */
function isServerResult({ type }: MessageBlock): boolean {
  return type.endsWith('_tool_result');
}

/** Statuses by the error codes of server tools. */
const serverErrorStatuses: Readonly<Record<string, number>> = {
  invalid_tool_input: responseStatuses.invalidArguments,
  url_not_allowed: responseStatuses.denied,
  execution_time_exceeded: responseStatuses.timedOut,
  too_many_requests: 429,
  max_uses_exceeded: 429,
  unavailable: 503,
};

/** Returns the outcome of a tool that Anthropic ran. */
function serverOutcome({ is_error, content }: MessageBlock): ToolOutcome {
  const { error_code: code, return_code: exit } = (content ?? {}) as Readonly<Record<string, unknown>>;
  if (typeof exit === 'number' && exit !== 0) return failure('The command failed.', exitStatus(exit));
  if (is_error) {
    const status = mcpErrorStatus(textOf(content)) ?? responseStatuses.threw;
    return failure('The tool of the MCP server failed.', status);
  }
  if (typeof code !== 'string') return { ok: true, result: content };
  return failure(`The server tool failed: ${code}.`, serverErrorStatuses[code] ?? responseStatuses.threw);
}

/** Returns the outcome of a client tool from its result for the model; undefined if it was not run. */
function clientOutcome(block: MessageBlock, toolName?: string): ToolOutcome | undefined {
  if (!block.is_error) return { ok: true, result: block.content };
  const text = textOf(block.content);
  // Text of the SDK's tool runner.
  if (text.startsWith('Not executed: ')) return undefined;
  const isUnknown = /^Error: Tool(set)? '.*' not found$/.test(text);
  // A thrown error begins with its name, and the error result of an MCP server does not.
  const status = isUnknown
    ? responseStatuses.unknownTool
    : mcpErrorStatus(text.replace(/^Error: /, ''), undefined, toolName);
  return failure(text || 'The tool failed.', status ?? responseStatuses.threw);
}

function textOf(content: unknown): string {
  if (typeof content === 'string') return content;
  const [first] = Array.isArray(content) ? content : [];
  return typeof first?.text === 'string' ? first.text : '';
}

function failure(message: string, status: number): ToolOutcome {
  return { ok: false, error: Object.assign(new Error(message), { status }) };
}
