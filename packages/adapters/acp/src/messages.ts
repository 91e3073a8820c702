/** A JSON-RPC message of the Agent Client Protocol. */
export interface Message {
  readonly id?: string | number | null;
  readonly method?: string;
  readonly params?: unknown;
  readonly result?: unknown;
  readonly error?: unknown;
}

/** Status of a tool call; `null` and undefined leave it as it was. */
type ToolCallStatus = 'pending' | 'in_progress' | 'completed' | 'failed';

/** Facts about a tool call, in updates and in requests for permission. */
export interface ToolCallUpdate {
  readonly toolCallId: string;
  readonly name?: string | null;
  readonly kind?: string | null;
  readonly title?: string | null;
  readonly status?: ToolCallStatus | null;
  readonly locations?: readonly unknown[] | null;
  readonly content?: readonly unknown[] | null;
  readonly rawInput?: unknown;
  readonly rawOutput?: unknown;
}

/** An option that the user may choose. */
interface PermissionOption {
  readonly optionId: string;
  readonly kind: 'allow_once' | 'allow_always' | 'reject_once' | 'reject_always';
}

/** Parameters of `session/request_permission`. */
export interface PermissionRequest {
  readonly sessionId: string;
  readonly toolCall: ToolCallUpdate;
  readonly options: readonly PermissionOption[];
}

/** Methods whose messages matter. */
export const methods = {
  cancelRequest: '$/cancel_request',
  permission: 'session/request_permission',
  update: 'session/update',
  prompt: 'session/prompt',
  load: 'session/load',
  cancel: 'session/cancel',
} as const;

/** Returns the tool call of a `session/update`; undefined if it is about anything else. */
export function toolCallOf(params: unknown): { sessionId: string; update: ToolCallUpdate } | undefined {
  const { sessionId, update } = (params ?? {}) as {
    sessionId?: unknown;
    update?: { sessionUpdate?: unknown };
  };
  const kind = update?.sessionUpdate;
  if (typeof sessionId !== 'string' || (kind !== 'tool_call' && kind !== 'tool_call_update'))
    return undefined;
  return isToolCall(update) ? { sessionId, update } : undefined;
}

/** Returns `true` for parameters that request permission for a tool call. */
export function isPermissionRequest(params: unknown): params is PermissionRequest {
  const { sessionId, toolCall, options } = (params ?? {}) as Partial<PermissionRequest>;
  return typeof sessionId === 'string' && isToolCall(toolCall) && Array.isArray(options);
}

function isToolCall(value: unknown): value is ToolCallUpdate {
  return typeof (value as ToolCallUpdate | null | undefined)?.toolCallId === 'string';
}

/** Returns the result of a request for permission: `cancelled` if there is no option of the kinds. */
export function chosenOption(
  { options }: PermissionRequest,
  kinds: readonly PermissionOption['kind'][],
  reason?: string,
): unknown {
  const meta = reason === undefined ? {} : { _meta: { 'actlog/reason': reason } };
  for (const kind of kinds) {
    const option = options.find((each) => each?.kind === kind);
    if (option) return { outcome: { outcome: 'selected', optionId: option.optionId }, ...meta };
  }
  return { outcome: { outcome: 'cancelled' }, ...meta };
}

/** Returns what a user decided: `allow`, `reject` or `cancel`; undefined if the result says neither. */
export function decisionOf(
  { options }: PermissionRequest,
  result: unknown,
): 'allow' | 'reject' | 'cancel' | undefined {
  const { outcome } = (result ?? {}) as { outcome?: { outcome?: unknown; optionId?: unknown } };
  if (outcome?.outcome === 'cancelled') return 'cancel';
  const kind = options.find(({ optionId }) => optionId === outcome?.optionId)?.kind;
  if (kind === undefined) return undefined;
  return kind.startsWith('reject') ? 'reject' : 'allow';
}

/** Returns the text blocks of a prompt. */
export function promptTexts(params: unknown): string[] {
  const { prompt } = (params ?? {}) as { prompt?: unknown };
  const blocks = Array.isArray(prompt) ? (prompt as readonly { type?: unknown; text?: unknown }[]) : [];
  return blocks.flatMap((block) =>
    block?.type === 'text' && typeof block.text === 'string' ? [block.text] : [],
  );
}
