import { type AdapterOptions, conversationSession } from '@actlog/recorder/adapter';
import { answeredCall, type CallSurroundings, type RunCall, type ToolFunctions } from './answered-call.ts';
import { type ChatAnswer, chatCalls, type ResponsesAnswer, responsesCalls } from './asked-call.ts';
import { recordHostedCalls } from './hosted-calls.ts';
import { openAICalls } from './openai-calls.ts';
import { responseSession } from './response-session.ts';

/** The answer to a call in a chat. */
export interface ChatToolMessage {
  role: 'tool';
  tool_call_id: string;
  content: string;
}

/** The answer to a call in the Responses API. */
export interface CallOutput {
  type: 'function_call_output' | 'custom_tool_call_output';
  call_id: string;
  output: string;
}

/** What is given beside what the model answered. */
export interface AnswerOptions {
  /** Ends the wait for a person's approval, and is passed on to the functions. */
  readonly signal?: AbortSignal | undefined;
  /** The conversation so far, `messages` or `input`, by which its session is known. */
  readonly messages?: unknown;
}

/**
 * Runs what a model asks for, all calls at once, and gives the answers in their order; none when it asks for nothing.
 * What a function throws is told to the model.
 *
 * @throws the reason of `signal`, when it aborts while a call is held
 */
export interface Answers {
  /** Answers a response of the Responses API; what OpenAI ran for it is recorded. */
  (response: ResponsesAnswer, given?: AnswerOptions): Promise<CallOutput[]>;
  /** Answers a chat completion, a choice of it, or the message in that. */
  (completion: ChatAnswer, given?: AnswerOptions): Promise<ChatToolMessage[]>;
}

/** The helper behind `actlog.answers()`. */
export function answersOf(functions: ToolFunctions | RunCall, options: AdapterOptions = {}): Answers {
  const calls = openAICalls(options);
  const answers = ((answer: ChatAnswer | ResponsesAnswer, { signal, messages }: AnswerOptions = {}) => {
    const isResponse = 'output' in answer;
    const sessionId = isResponse ? responseSession(answer, messages) : conversationSession(messages);
    const surroundings = { calls, functions, sessionId, signal };
    return isResponse ? outputsFor(answer, surroundings) : messagesFor(answer, surroundings);
  }) as Answers;
  return answers;
}

async function outputsFor(answer: ResponsesAnswer, surroundings: CallSurroundings): Promise<CallOutput[]> {
  recordHostedCalls(answer, surroundings);
  return Promise.all(
    responsesCalls(answer).map(async (call) => ({
      type: call.isFreeText ? 'custom_tool_call_output' : 'function_call_output',
      call_id: call.id,
      output: await answeredCall(call, surroundings),
    })),
  );
}

async function messagesFor(answer: ChatAnswer, surroundings: CallSurroundings): Promise<ChatToolMessage[]> {
  return Promise.all(
    chatCalls(answer).map(async (call) => ({
      role: 'tool',
      tool_call_id: call.id,
      content: await answeredCall(call, surroundings),
    })),
  );
}
