import { type AdapterOptions, chatTexts, noteTexts } from '@actlog/recorder/adapter';
import { answeredCall, type CallSurroundings, type RunCall, type ToolFunctions } from './answered-call.ts';
import { type ChatAnswer, chatCalls, type ResponsesAnswer, responsesCalls } from './asked-call.ts';
import { recordHostedCalls } from './hosted-calls.ts';
import { openAICalls } from './openai-calls.ts';
import { responseSession } from './response-session.ts';

/** Result of a call in a chat. */
export interface ChatToolMessage {
  role: 'tool';
  tool_call_id: string;
  content: string;
}

/** Result of a call in the Responses API. */
export interface CallOutput {
  type: 'function_call_output' | 'custom_tool_call_output';
  call_id: string;
  output: string;
}

/** Options beside the model's response. */
export interface AnswerOptions {
  /** Aborts the wait for a person's decision, and is passed to the functions. */
  readonly signal?: AbortSignal | undefined;
  /**
   * The conversation so far, `messages` or `input`, which identifies its session and has what the user wrote, for the
   * recorder's `origins`.
   */
  readonly messages?: unknown;
}

/**
 * Runs all tool calls of a model's response at once and returns their results in order. Errors of functions become
 * results for the model.
 *
 * @throws the reason of `signal` when it aborts while a call is held
 */
export interface Answers {
  /** Handles a response of the Responses API; also records calls that OpenAI ran for it. */
  (response: ResponsesAnswer, given?: AnswerOptions): Promise<CallOutput[]>;
  /** Handles a chat completion, one of its choices, or the message in that. */
  (completion: ChatAnswer, given?: AnswerOptions): Promise<ChatToolMessage[]>;
}

/** Creates the helper behind `actlog.answers()`. */
export function answersOf(functions: ToolFunctions | RunCall, options: AdapterOptions = {}): Answers {
  const calls = openAICalls(options);
  const helper = ((response: ChatAnswer | ResponsesAnswer, { signal, messages }: AnswerOptions = {}) => {
    const isResponse = 'output' in response;
    const { conversations } = calls;
    const sessionId = isResponse
      ? responseSession(response, messages, conversations)
      : conversations.sessionOf(messages);
    noteTexts(calls, () => ({ sessionId, ...textsOf(response, messages) }));
    const surroundings = { calls, functions, sessionId, signal, messages };
    return isResponse ? outputsFor(response, surroundings) : messagesFor(response, surroundings);
  }) as Answers;
  return helper;
}

/** Returns what the user and the developer wrote: in the messages, and in the instructions that a response repeats. */
function textsOf(response: ChatAnswer | ResponsesAnswer, messages: unknown) {
  const { user, system } =
    typeof messages === 'string' ? { user: [messages], system: [] } : chatTexts(messages);
  const { instructions } = response as { readonly instructions?: unknown };
  const items = chatTexts(instructions);
  return { user, system: [...system, instructions, ...items.system, ...items.user] };
}

async function outputsFor(response: ResponsesAnswer, surroundings: CallSurroundings): Promise<CallOutput[]> {
  recordHostedCalls(response, surroundings);
  return Promise.all(
    responsesCalls(response).map(async (call) => ({
      type: call.isFreeText ? 'custom_tool_call_output' : 'function_call_output',
      call_id: call.id,
      output: await answeredCall(call, surroundings),
    })),
  );
}

async function messagesFor(response: ChatAnswer, surroundings: CallSurroundings): Promise<ChatToolMessage[]> {
  return Promise.all(
    chatCalls(response).map(async (call) => ({
      role: 'tool',
      tool_call_id: call.id,
      content: await answeredCall(call, surroundings),
    })),
  );
}
