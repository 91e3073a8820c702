import type { RequestedCall } from '@actlog/recorder/loop';

/** A call that a model requests of a function, or of a custom tool, which takes free-form text. */
type OpenAICall = RequestedCall & { readonly id: string };

/** A `tool_calls` entry of a chat message. */
interface ChatCall {
  readonly id: string;
  readonly type: string;
  readonly function?: { readonly name: string; readonly arguments: string };
  readonly custom?: { readonly name: string; readonly input: string };
}

/** A response of Chat Completions, one of its choices, or the message in that. */
export interface ChatOutput {
  readonly choices?: readonly ChatOutput[];
  readonly message?: ChatOutput;
  /** If present, the last call of a truncated response is not run. */
  readonly finish_reason?: string | null;
  readonly tool_calls?: readonly ChatCall[] | null;
}

/** A response of the Responses API. */
export interface ResponsesOutput {
  readonly id?: string;
  /** Response that this one continues from. */
  readonly previous_response_id?: string | null;
  readonly output: readonly { readonly type: string }[];
  /** If `incomplete`, a call at the end is not run. */
  readonly status?: string | null | undefined;
  /** Conversation that the response was added to. */
  readonly conversation?: { readonly id: string } | null;
}

/** An output item of the Responses API. */
export interface OutputItem {
  readonly type: string;
  readonly [field: string]: unknown;
}

/** Finish reasons of a truncated chat response. */
const truncationReasons: readonly unknown[] = ['length', 'content_filter'];

/** Returns the calls that a chat response requests. */
export function chatCalls(response: ChatOutput): OpenAICall[] {
  const choice = response.choices?.[0] ?? response;
  const requested = (choice.message ?? choice).tool_calls ?? [];
  const truncated = truncationReasons.includes(choice.finish_reason) ? requested.at(-1) : undefined;
  return requested.flatMap((item) => {
    const { id, function: call, custom } = item;
    const isTruncated = item === truncated;
    if (call) return { id, name: call.name, arguments: call.arguments, isFreeText: false, isTruncated };
    return custom ? { id, name: custom.name, arguments: custom.input, isFreeText: true, isTruncated } : [];
  });
}

/** Returns the function and custom tool calls that a response requests. */
export function responsesCalls({ output, status }: ResponsesOutput): OpenAICall[] {
  const truncated = status === 'incomplete' ? output.at(-1) : undefined;
  return (output as readonly OutputItem[]).flatMap((item) => {
    const isFreeText = item.type === 'custom_tool_call';
    if (!isFreeText && item.type !== 'function_call') return [];
    const text = String(isFreeText ? item.input : item.arguments);
    const isTruncated = item === truncated || item.status === 'incomplete';
    const namespace = typeof item.namespace === 'string' ? item.namespace : undefined;
    const [id, name] = [String(item.call_id), String(item.name)];
    return { id, name, namespace, arguments: text, isFreeText, isTruncated };
  });
}
