/** A call that a model asks for. */
export interface AskedCall {
  readonly id: string;
  readonly name: string;
  /** JSON of the arguments; for tools of free text, the text. */
  readonly text: string;
  /** Whether the tool takes a text of any form. */
  readonly isFreeText: boolean;
}

/** A `tool_calls` entry of a chat message. */
interface ChatCall {
  readonly id: string;
  readonly type: string;
  readonly function?: { readonly name: string; readonly arguments: string };
  readonly custom?: { readonly name: string; readonly input: string };
}

/** What Chat Completions answers, or the message in it. */
export interface ChatAnswer {
  readonly choices?: readonly { readonly message: ChatAnswer }[];
  readonly tool_calls?: readonly ChatCall[] | null;
}

/** What the Responses API answers. */
export interface ResponsesAnswer {
  readonly output: readonly { readonly type: string }[];
  /** The conversation that the answer was added to. */
  readonly conversation?: { readonly id: string } | null;
}

/** One thing that the Responses API answers. */
export interface OutputItem {
  readonly type: string;
  readonly [field: string]: unknown;
}

/** The calls that a chat message asks for. */
export function chatCalls({ choices, tool_calls }: ChatAnswer): AskedCall[] {
  const asked = tool_calls ?? choices?.[0]?.message.tool_calls ?? [];
  return asked.flatMap(({ id, function: call, custom }) => {
    if (call) return { id, name: call.name, text: call.arguments, isFreeText: false };
    return custom ? { id, name: custom.name, text: custom.input, isFreeText: true } : [];
  });
}

/** The calls of its own that a response asks for. */
export function responsesCalls({ output }: ResponsesAnswer): AskedCall[] {
  return (output as readonly OutputItem[]).flatMap((item) => {
    const isFreeText = item.type === 'custom_tool_call';
    if (!isFreeText && item.type !== 'function_call') return [];
    const text = isFreeText ? item.input : item.arguments;
    return { id: String(item.call_id), name: String(item.name), text: String(text), isFreeText };
  });
}
