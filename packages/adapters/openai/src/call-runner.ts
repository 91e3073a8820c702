import { responseStatuses, type ToolOutcome } from '@actlog/recorder';
import {
  type AdapterCalls,
  type AdapterOptions,
  type Conversations,
  chatTexts,
  currentSessionId,
  noteTexts,
  refuseOptionsOfFunctions,
  SessionsById,
  shellStatus,
  toolContent,
} from '@actlog/recorder/adapter';
import {
  type CallContext,
  type ChatToolMessage,
  type LoopFunctions,
  type RunContext,
  type RunTool,
  runCall,
} from '@actlog/recorder/loop';
import {
  type ChatOutput,
  chatCalls,
  type OutputItem,
  type ResponsesOutput,
  responsesCalls,
} from './model-output.ts';
import { callIdOf, openAICalls, parsedArguments } from './openai-calls.ts';

/** Types of calls that OpenAI runs. Shells and programs run there if the response contains their output. */
const hostedTypes = ['web_search', 'file_search', 'code_interpreter', 'image_generation', 'mcp'];
const outputTypes: Readonly<Record<string, string>> = {
  shell_call: 'shell_call_output',
  program: 'program_output',
};

/** Fields of a call with its outcome rather than its arguments. */
const outcomeFields = new Set(
  'id call_id type status output outputs result results error name server_label'.split(' '),
);

/** Records the calls that OpenAI ran for a response, each once. */
function recordHostedCalls(
  response: ResponsesOutput,
  { calls, sessionId }: { readonly calls: AdapterCalls; readonly sessionId: string | undefined },
): void {
  const output = response.output as readonly OutputItem[];
  for (const item of output) {
    if (!isHosted(item, output)) continue;
    const isMcp = item.type === 'mcp_call';
    const toolName = isMcp ? String(item.name) : item.type.replace(/_call$/, '');
    if (!calls.covers(toolName) || !calls.claim(item)) continue;
    calls.record(
      { toolName, arguments: argumentsOf(item), sessionId, resultOf: shownResult },
      outcomeOf(item, output),
    );
  }
}

function isHosted(item: OutputItem, output: readonly OutputItem[]): boolean {
  const outputType = outputTypes[item.type];
  if (!outputType) return hostedTypes.some((type) => item.type === `${type}_call`);
  return output.some(({ type, call_id }) => type === outputType && call_id === item.call_id);
}

function argumentsOf(item: OutputItem): unknown {
  if (item.type === 'mcp_call') return parsedArguments(item.arguments);
  if (item.type === 'shell_call') return item.action;
  return Object.fromEntries(Object.entries(item).filter(([field]) => !outcomeFields.has(field)));
}

/** Returns what the model sees of a hosted call's item: its output or results; they have no common field. */
function shownResult(item: unknown): unknown {
  const { output, outputs, results } = item as Readonly<Record<string, unknown>>;
  return toolContent(output ?? outputs ?? results ?? item);
}

function outcomeOf(
  { type, status, error, ...item }: OutputItem,
  outputs: readonly OutputItem[],
): ToolOutcome {
  const hasFailed = Boolean(error) || status === 'failed' || status === 'incomplete';
  const ended = outputs.find((one) => one.type === outputTypes[type] && one.call_id === item.call_id);
  const failed = hasFailed ? responseStatuses.threw : shellStatus(ended?.output);
  if (failed === undefined) return { ok: true, result: item };
  const message = `The hosted tool ${type} failed.`;
  return { ok: false, error: Object.assign(new Error(message), { status: failed }) };
}

/** Result of a call in the Responses API. */
export interface CallOutput {
  type: 'function_call_output' | 'custom_tool_call_output';
  call_id: string;
  output: string;
}

/** Options beside the model's response. */
export interface RunCallsOptions {
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
export interface RunCalls {
  /** Handles a response of the Responses API; also records calls that OpenAI ran for it. */
  (response: ResponsesOutput, options?: RunCallsOptions): Promise<CallOutput[]>;
  /** Handles a chat completion, one of its choices, or the message in that. */
  (completion: ChatOutput, options?: RunCallsOptions): Promise<ChatToolMessage[]>;
}

/**
 * Creates the function that a manual loop calls with each response of its model.
 *
 * @param functions - functions by the names of their tools, or one function for all tools; for a custom tool it
 *   receives the text
 */
export function callRunner(functions: LoopFunctions | RunTool, options?: AdapterOptions): RunCalls {
  refuseOptionsOfFunctions(functions, options, 'actlog.callRunner(functions, { guard })');
  const calls = openAICalls(options ?? {});
  const runCalls = (response: ChatOutput | ResponsesOutput, { signal, messages }: RunCallsOptions = {}) => {
    const isResponse = 'output' in response;
    const { conversations } = calls;
    const sessionId = isResponse
      ? responseSession(response, messages, conversations)
      : conversations.sessionOf(messages);
    noteTexts(calls, () => ({ sessionId, ...textsOf(response, messages) }));
    const context = { calls, functions: withCallIds(functions), sessionId, signal, messages };
    return isResponse ? outputsFor(response, context) : messagesFor(response, context);
  };
  return runCalls as RunCalls;
}

/** Remembers the id of each call, by which recorded tools that serve as functions recognize it. */
function withCallIds(functions: LoopFunctions | RunTool): LoopFunctions | RunTool {
  const noted = (run: RunTool) => (args: unknown, context: CallContext) => {
    callIdOf(args, context.callId);
    return run.call(functions, args, context);
  };
  if (typeof functions === 'function') return noted(functions);
  return Object.fromEntries(Object.entries(functions).map(([name, run]) => [name, noted(run as RunTool)]));
}

/** Returns what the user and the developer wrote: in the messages, and in the instructions that a response repeats. */
function textsOf(response: ChatOutput | ResponsesOutput, messages: unknown) {
  const { user, system } =
    typeof messages === 'string' ? { user: [messages], system: [] } : chatTexts(messages);
  const { instructions } = response as { readonly instructions?: unknown };
  const items = chatTexts(instructions);
  return { user, system: [...system, instructions, ...items.system, ...items.user] };
}

async function outputsFor(response: ResponsesOutput, context: RunContext): Promise<CallOutput[]> {
  recordHostedCalls(response, context);
  return Promise.all(
    responsesCalls(response).map(async (call) => ({
      type: call.isFreeText ? 'custom_tool_call_output' : 'function_call_output',
      call_id: call.id,
      output: (await runCall(call, context)).content,
    })),
  );
}

async function messagesFor(completion: ChatOutput, context: RunContext): Promise<ChatToolMessage[]> {
  return Promise.all(
    chatCalls(completion).map(async (call) => ({
      role: 'tool',
      tool_call_id: call.id,
      content: (await runCall(call, context)).content,
    })),
  );
}

/** Sessions of responses, because a continuing request contains only new messages. */
const sessions = new SessionsById('@actlog/openai/response-sessions');

/**
 * Returns the session of a response, from the first source that has one:
 *
 * 1. the service's conversation
 * 2. the surrounding `session.run`
 * 3. the response that it continues from
 * 4. the messages, or the id of the response if it has a string instead of messages
 */
function responseSession(
  { id, previous_response_id: previous, conversation }: ResponsesOutput,
  messages: unknown,
  conversations: Conversations,
): string | undefined {
  const own = typeof messages === 'string' ? id : conversations.sessionOf(messages);
  const sessionId = conversation?.id || (currentSessionId() ?? sessions.get(previous) ?? own);
  sessions.note(id, sessionId);
  return sessionId;
}
