/** A call that a model asks for. */
export interface AskedCall {
  readonly id: string;
  readonly name: string;
  /** Of a tool that stands in a namespace: tools of two may have one name. */
  readonly namespace?: string | undefined;
  /** JSON of the arguments; for tools of free text, the text. */
  readonly text: string;
  /** Whether the tool takes a text of any form. */
  readonly isFreeText: boolean;
  /** Whether the model was cut off while it wrote the call. */
  readonly isCutOff: boolean;
}

/** A `tool_calls` entry of a chat message. */
interface ChatCall {
  readonly id: string;
  readonly type: string;
  readonly function?: { readonly name: string; readonly arguments: string };
  readonly custom?: { readonly name: string; readonly input: string };
}

/** What Chat Completions answers, a choice of that, or the message in it. */
export interface ChatAnswer {
  readonly choices?: readonly ChatAnswer[];
  readonly message?: ChatAnswer;
  /** Where it is told, the last call of an answer that was cut off is not run. */
  readonly finish_reason?: string | null;
  readonly tool_calls?: readonly ChatCall[] | null;
}

/** What the Responses API answers. */
export interface ResponsesAnswer {
  readonly id?: string;
  /** The response that this one goes on from. */
  readonly previous_response_id?: string | null;
  readonly output: readonly { readonly type: string }[];
  /** Where it is `incomplete`, a call at the end is not run. */
  readonly status?: string | null | undefined;
  /** The conversation that the answer was added to. */
  readonly conversation?: { readonly id: string } | null;
}

/** One thing that the Responses API answers. */
export interface OutputItem {
  readonly type: string;
  readonly [field: string]: unknown;
}

/** The ends of a chat answer that come in the midst of it. */
const cutOffReasons: readonly unknown[] = ['length', 'content_filter'];

/** The calls that an answer of a chat asks for. */
export function chatCalls(answer: ChatAnswer): AskedCall[] {
  const choice = answer.choices?.[0] ?? answer;
  const asked = (choice.message ?? choice).tool_calls ?? [];
  const cutOff = cutOffReasons.includes(choice.finish_reason) ? asked.at(-1) : undefined;
  return asked.flatMap((item) => {
    const { id, function: call, custom } = item;
    const isCutOff = item === cutOff;
    if (call) return { id, name: call.name, text: call.arguments, isFreeText: false, isCutOff };
    return custom ? { id, name: custom.name, text: custom.input, isFreeText: true, isCutOff } : [];
  });
}

/** The calls of its own that a response asks for. */
export function responsesCalls({ output, status }: ResponsesAnswer): AskedCall[] {
  const cutOff = status === 'incomplete' ? output.at(-1) : undefined;
  return (output as readonly OutputItem[]).flatMap((item) => {
    const isFreeText = item.type === 'custom_tool_call';
    if (!isFreeText && item.type !== 'function_call') return [];
    const text = String(isFreeText ? item.input : item.arguments);
    const isCutOff = item === cutOff || item.status === 'incomplete';
    const namespace = typeof item.namespace === 'string' ? item.namespace : undefined;
    return { id: String(item.call_id), name: String(item.name), namespace, text, isFreeText, isCutOff };
  });
}
