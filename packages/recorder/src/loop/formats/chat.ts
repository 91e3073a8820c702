import { markTruncated, type RequestedCall } from '../run-call.ts';
import type { OutputFormat } from './output-format.ts';

/** A message, the choice or response that has it, or the whole response. */
type Within<Message> =
  | Message
  | { readonly message?: Message | undefined }
  | { readonly choices: readonly { readonly message?: Message | undefined }[] };

interface Called<Arguments> {
  readonly function: { readonly name: string; readonly arguments: Arguments };
}

/** Output of Ollama: a response or its message. */
export type OllamaOutput = Within<{ readonly tool_calls?: readonly Called<object>[] | null | undefined }>;

/** Output of an API like OpenAI's Chat Completions: a response, one of its choices, or a message. */
export type ChatOutput = Within<{
  readonly tool_calls?: readonly (Called<string> & { readonly id: string })[] | null | undefined;
}>;

/** Output of the clients of Mistral and Cohere: a response, one of its choices, or a message. */
export type MistralOutput = Within<{
  readonly toolCalls?:
    | readonly (Called<string | object> & { readonly id?: string | undefined })[]
    | null
    | undefined;
}>;

/** Result of a call for Ollama. */
export interface OllamaToolMessage {
  role: 'tool';
  tool_name: string;
  content: string;
}

/** Result of a call for an API like OpenAI's Chat Completions. */
export interface ChatToolMessage {
  role: 'tool';
  tool_call_id: string;
  content: string;
}

/** Result of a call for the clients of Mistral and Cohere. */
export interface MistralToolMessage {
  role: 'tool';
  toolCallId: string;
  name: string;
  content: string;
}

interface AnyChatOutput {
  readonly choices?: readonly AnyChatOutput[];
  readonly message?: AnyChatOutput;
  readonly finish_reason?: unknown;
  readonly finishReason?: unknown;
  readonly done_reason?: unknown;
  readonly tool_calls?: unknown;
  readonly toolCalls?: unknown;
}

interface AnyCall {
  readonly id?: string | null;
  readonly function?: { readonly name?: unknown; readonly arguments?: unknown };
}

/** Reasons for the end of an output that was cut off, of OpenAI, Ollama, Mistral and Cohere. */
const truncationReasons: readonly unknown[] = ['length', 'model_length', 'content_filter', 'MAX_TOKENS'];

export const chatFormat: OutputFormat = {
  callsIn: (output) =>
    callsIn(output, 'tool_calls', ({ function: called }) => typeof called?.arguments === 'string'),
  messagesOf: (results) =>
    results.map(({ id = '', content }): ChatToolMessage => ({ role: 'tool', tool_call_id: id, content })),
};

export const ollamaFormat: OutputFormat = {
  callsIn: (output) => callsIn(output, 'tool_calls', () => true),
  messagesOf: (results) =>
    results.map(({ id, name, content }): OllamaToolMessage & { tool_call_id?: string } => ({
      role: 'tool',
      tool_name: name,
      ...(id !== undefined && { tool_call_id: id }),
      content,
    })),
};

export const mistralFormat: OutputFormat = {
  callsIn: (output) => callsIn(output, 'toolCalls', () => true),
  messagesOf: (results) =>
    results.map(
      ({ id = '', name, content }): MistralToolMessage => ({ role: 'tool', toolCallId: id, name, content }),
    ),
};

function callsIn(
  output: AnyChatOutput,
  field: 'tool_calls' | 'toolCalls',
  isOfFormat: (call: AnyCall) => boolean,
): RequestedCall[] | undefined {
  const choice = output.choices?.[0] ?? output;
  const calls = (choice.message ?? choice)[field];
  if (!Array.isArray(calls) || calls.length === 0 || !isOfFormat(calls[0])) return undefined;
  const requested = (calls as readonly AnyCall[]).map(({ id, function: called }) => ({
    id: id ?? undefined,
    name: String(called?.name),
    arguments: called?.arguments,
  }));
  const reason = choice.finish_reason ?? choice.finishReason ?? choice.done_reason;
  return markTruncated(requested, truncationReasons.includes(reason));
}
