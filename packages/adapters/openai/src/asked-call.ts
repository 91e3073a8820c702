/** A call requested by a model. */
export interface AskedCall {
  readonly id: string;
  readonly name: string;
  /** Namespace of the tool; tools of different namespaces may have the same name. */
  readonly namespace?: string | undefined;
  /** JSON of the arguments; for custom tools, the text. */
  readonly text: string;
  /** `true` if the tool takes free-form text. */
  readonly isFreeText: boolean;
  /** `true` if the response was truncated within the call. */
  readonly isTruncated: boolean;
}

/** A `tool_calls` entry of a chat message. */
interface ChatCall {
  readonly id: string;
  readonly type: string;
  readonly function?: { readonly name: string; readonly arguments: string };
  readonly custom?: { readonly name: string; readonly input: string };
}

/** A response of Chat Completions, one of its choices, or the message in that. */
export interface ChatAnswer {
  readonly choices?: readonly ChatAnswer[];
  readonly message?: ChatAnswer;
  /** If present, the last call of a truncated response is not run. */
  readonly finish_reason?: string | null;
  readonly tool_calls?: readonly ChatCall[] | null;
}

/** A response of the Responses API. */
export interface ResponsesAnswer {
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
export function chatCalls(response: ChatAnswer): AskedCall[] {
  const choice = response.choices?.[0] ?? response;
  const requested = (choice.message ?? choice).tool_calls ?? [];
  const truncated = truncationReasons.includes(choice.finish_reason) ? requested.at(-1) : undefined;
  return requested.flatMap((item) => {
    const { id, function: call, custom } = item;
    const isTruncated = item === truncated;
    if (call) return { id, name: call.name, text: call.arguments, isFreeText: false, isTruncated };
    return custom ? { id, name: custom.name, text: custom.input, isFreeText: true, isTruncated } : [];
  });
}

/** Returns the function and custom tool calls that a response requests. */
export function responsesCalls({ output, status }: ResponsesAnswer): AskedCall[] {
  const truncated = status === 'incomplete' ? output.at(-1) : undefined;
  return (output as readonly OutputItem[]).flatMap((item) => {
    const isFreeText = item.type === 'custom_tool_call';
    if (!isFreeText && item.type !== 'function_call') return [];
    const text = String(isFreeText ? item.input : item.arguments);
    const isTruncated = item === truncated || item.status === 'incomplete';
    const namespace = typeof item.namespace === 'string' ? item.namespace : undefined;
    return { id: String(item.call_id), name: String(item.name), namespace, text, isFreeText, isTruncated };
  });
}
