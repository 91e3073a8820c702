import { type CallResult, markTruncated } from '../run-call.ts';
import type { OutputFormat } from './output-format.ts';

/** A function call of the Gemini API. */
interface FunctionCall {
  readonly id?: string | undefined;
  readonly name?: string | undefined;
  readonly args?: Readonly<Record<string, unknown>> | undefined;
}

interface GeminiContent {
  readonly parts?: readonly { readonly functionCall?: FunctionCall | undefined }[] | undefined;
}

/** Output of the Gemini API: a response, its content, or a call of tools in a live session. */
export type GeminiOutput =
  | { readonly functionCalls?: readonly FunctionCall[] | undefined }
  | { readonly candidates?: readonly { readonly content?: GeminiContent | undefined }[] | undefined }
  | { readonly parts: GeminiContent['parts'] };

/** Results of the calls of a response, for the Gemini API. */
export interface GeminiToolContent {
  role: 'user';
  parts: {
    functionResponse: { id?: string; name: string; response: { output: string } | { error: string } };
  }[];
}

interface AnyGeminiOutput extends GeminiContent {
  readonly functionCalls?: readonly AnyFunctionCall[] | null;
  readonly candidates?: readonly { readonly content?: GeminiContent; readonly finishReason?: unknown }[];
}

/** A function call, or a part of one whose arguments are streamed. */
interface AnyFunctionCall extends FunctionCall {
  readonly partialArgs?: unknown;
  readonly willContinue?: boolean;
}

export const geminiFormat: OutputFormat = {
  callsIn(output: AnyGeminiOutput) {
    const [candidate] = output.candidates ?? [];
    const parts = (candidate?.content ?? output).parts ?? [];
    const calls: readonly AnyFunctionCall[] =
      output.functionCalls ?? (Array.isArray(parts) ? parts.flatMap((part) => part?.functionCall ?? []) : []);
    if (calls.length === 0) return undefined;
    const requested = calls.map(({ id, name, args, partialArgs, willContinue }) => ({
      id,
      name: String(name),
      arguments: args,
      isTruncated: partialArgs !== undefined || willContinue === true,
    }));
    return markTruncated(requested, candidate?.finishReason === 'MAX_TOKENS');
  },
  messagesOf: (results): GeminiToolContent[] => [{ role: 'user', parts: results.map(functionResponse) }],
};

function functionResponse({ id, name, content, isError }: CallResult): GeminiToolContent['parts'][number] {
  const response = isError ? { error: content } : { output: content };
  return { functionResponse: { ...(id !== undefined && { id }), name, response } };
}
