import { responseStatuses, type ToolOutcome } from '@actlog/recorder';

/** The parts of a message's blocks that tool calls are made of, of the beta API or not. */
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

/** A message as it is sent or received. */
export interface AnyMessage {
  readonly id?: string;
  readonly role?: string;
  readonly content?: unknown;
}

/** The blocks of a message; a text alone has none that matter here. */
export function blocksOf(message: AnyMessage | undefined): readonly MessageBlock[] {
  return Array.isArray(message?.content) ? message.content : [];
}

/** Whether a block asks for a tool: of the client, of Anthropic or of an MCP server that Anthropic calls. */
export function isToolUse({ type }: MessageBlock): boolean {
  return type === 'tool_use' || type === 'server_tool_use' || type === 'mcp_tool_use';
}

/** Whether a block is the result of a tool that Anthropic ran. */
export function isServerResult({ type }: MessageBlock): boolean {
  return type.endsWith('_tool_result');
}

/** Statuses of the codes with which server tools fail. */
const serverErrorStatuses: Readonly<Record<string, number>> = {
  invalid_tool_input: responseStatuses.invalidArguments,
  url_not_allowed: responseStatuses.denied,
  execution_time_exceeded: responseStatuses.timedOut,
  too_many_requests: 429,
  max_uses_exceeded: 429,
  unavailable: 503,
};

/** How a tool that Anthropic ran has ended. */
export function serverOutcome({ is_error, content }: MessageBlock): ToolOutcome {
  const { error_code: code } = (content ?? {}) as { error_code?: unknown };
  if (is_error) return failure('The tool of the MCP server failed.', responseStatuses.threw);
  if (typeof code !== 'string') return { ok: true, result: content };
  return failure(`The server tool failed: ${code}.`, serverErrorStatuses[code] ?? responseStatuses.threw);
}

/** How a tool of the client has ended, as the model was told; undefined for one that was not run. */
export function clientOutcome(block: MessageBlock): ToolOutcome | undefined {
  if (!block.is_error) return { ok: true, result: block.content };
  const text = textOf(block.content);
  // The words of the SDK's tool runner.
  if (text.startsWith('Not executed: ')) return undefined;
  const isUnknown = /^Error: Tool(set)? '.*' not found$/.test(text);
  return failure('The tool failed.', isUnknown ? responseStatuses.unknownTool : responseStatuses.threw);
}

function textOf(content: unknown): string {
  if (typeof content === 'string') return content;
  const [first] = Array.isArray(content) ? content : [];
  return typeof first?.text === 'string' ? first.text : '';
}

function failure(message: string, status: number): ToolOutcome {
  return { ok: false, error: Object.assign(new Error(message), { status }) };
}
