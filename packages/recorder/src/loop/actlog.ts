import { AdapterCalls } from '../adapter/adapter-calls.ts';
import { type AdapterOptions, refuseOptionsOfFunctions } from '../adapter/adapter-option-checks.ts';
import { chatTexts, noteTexts, toolContent } from '../adapter/shown-texts.ts';
import { version } from '../version.ts';
import {
  type ChatOutput,
  type ChatToolMessage,
  chatFormat,
  type MistralOutput,
  type MistralToolMessage,
  mistralFormat,
  type OllamaOutput,
  type OllamaToolMessage,
  ollamaFormat,
} from './formats/chat.ts';
import { type ConverseOutput, type ConverseToolMessage, converseFormat } from './formats/converse.ts';
import { type GeminiOutput, type GeminiToolContent, geminiFormat } from './formats/gemini.ts';
import { type PlainCall, plainFormat } from './formats/output-format.ts';
import { type CallResult, type LoopFunctions, type RunTool, runCall } from './run-call.ts';

/**
 * Runs the tool calls of a hand-written loop, recorded, and guarded if the recorder's guard is on:
 *
 * ```ts
 * const runCalls = actlog({ get_weather: ({ city }: { city: string }) => weatherIn(city) });
 *
 * while (true) {
 *   const { message } = await ollama.chat({ model, messages, tools });
 *   const results = await runCalls(message, { messages });
 *   messages.push(message, ...results);
 *   if (results.length === 0) break;
 * }
 * ```
 *
 * Reads the outputs of Amazon Bedrock's Converse API, Mistral, Cohere, Ollama, Gemini and APIs like OpenAI's Chat
 * Completions, and returns results in the same format; for any other provider, a list of `{ name, arguments }`.
 *
 * @param functions - functions by the names of their tools, or one function for all tools
 * @throws when no recorder is given and the environment does not configure one; see `sharedRecorder`
 */
export function actlog(functions: LoopFunctions | RunTool, options?: AdapterOptions): RunCalls {
  const form = 'actlog(functions, { guard })';
  refuseOptionsOfFunctions(functions, options, form);
  const identity = { framework: 'loop', sdk: `@actlog/recorder/loop/${version}`, form };
  return callRunner(new AdapterCalls({ ...identity, resultOf: toolContent }, options), functions);
}

/** Options beside the model's output. */
export interface RunCallsOptions {
  /** Aborts the wait for a person's decision, and is passed to the functions. */
  readonly signal?: AbortSignal | undefined;
  /** The conversation so far, which identifies its session and has what the user wrote, for `origins`. */
  readonly messages?: readonly unknown[] | undefined;
  /** The system prompt where it is not one of the messages, for `origins`. */
  readonly system?: unknown;
}

/**
 * Runs all tool calls of a model's output at once, and returns the messages with their results, which the loop appends
 * to its conversation. Errors of functions become results for the model. Without calls, the list is empty.
 *
 * @throws TypeError when the output has no known format
 * @throws the reason of `signal` when it aborts while a call is held
 */
export interface RunCalls {
  /** Handles a list of calls, and returns their results, for providers of any other format. */
  (calls: readonly PlainCall[], options?: RunCallsOptions): Promise<CallResult[]>;
  /** Handles a response of Amazon Bedrock's Converse API, or its message. */
  (output: ConverseOutput, options?: RunCallsOptions): Promise<ConverseToolMessage[]>;
  /** Handles a response of Ollama, or its message. */
  (output: OllamaOutput, options?: RunCallsOptions): Promise<OllamaToolMessage[]>;
  /** Handles a response of an API like OpenAI's Chat Completions, one of its choices, or a message. */
  (output: ChatOutput, options?: RunCallsOptions): Promise<ChatToolMessage[]>;
  /** Handles a response of the clients of Mistral and Cohere, one of its choices, or a message. */
  (output: MistralOutput, options?: RunCallsOptions): Promise<MistralToolMessage[]>;
  /** Handles a response of the Gemini API, its content, or a call of tools in a live session. */
  (output: GeminiOutput, options?: RunCallsOptions): Promise<GeminiToolContent[]>;
}

const formats = [plainFormat, chatFormat, ollamaFormat, mistralFormat, converseFormat, geminiFormat];

/** Fields by which an output without calls is recognized. */
const knownFields = [
  'role',
  'content',
  'message',
  'choices',
  'output',
  'candidates',
  'functionCalls',
  'promptFeedback',
];

/** Creates the function that a hand-written loop calls with each output of its model. */
export function callRunner(calls: AdapterCalls, functions: LoopFunctions | RunTool): RunCalls {
  const runCalls = async (output: object, { signal, messages, system }: RunCallsOptions = {}) => {
    const [format, requested] = requestedIn(output);
    const sessionId = calls.conversations.sessionOf(messages);
    noteTexts(calls, () => {
      const texts = chatTexts(messages);
      return { sessionId, user: texts.user, system: [system, ...texts.system] };
    });
    const context = { calls, functions, sessionId, signal, messages };
    const results = await Promise.all(requested.map((call) => runCall(call, context)));
    return results.length === 0 ? [] : format.messagesOf(results);
  };
  return runCalls as RunCalls;
}

function requestedIn(output: object) {
  for (const format of typeof output === 'object' && output !== null ? formats : []) {
    const requested = format.callsIn(output);
    if (requested) return [format, requested] as const;
  }
  // Its calls would not run, and nobody would know why.
  const adapter = adapterOf(output);
  if (adapter !== undefined) {
    throw new TypeError(
      `actlog: the output has calls in a format that this function does not read. Pass it to actlog.callRunner(functions) of ${adapter}.`,
    );
  }
  const isKnown =
    typeof output === 'object' && output !== null && knownFields.some((field) => field in output);
  if (isKnown) return [plainFormat, []] as const;
  throw new TypeError(
    'actlog: the output has no known format. Pass the response of the model, its message, or a list of calls such as [{ name, arguments }].',
  );
}

/** Returns the package whose loop reads the calls of an output; undefined for an output without such calls. */
function adapterOf(output: object): string | undefined {
  const { content, output: items } = (output ?? {}) as {
    readonly content?: unknown;
    readonly output?: unknown;
  };
  const has = (list: unknown, types: readonly unknown[]) =>
    Array.isArray(list) &&
    list.some((part: { readonly type?: unknown } | null) => types.includes(part?.type));
  if (has(content, ['tool_use'])) return '@actlog/anthropic';
  return has(items, ['function_call', 'custom_tool_call']) ? '@actlog/openai' : undefined;
}
