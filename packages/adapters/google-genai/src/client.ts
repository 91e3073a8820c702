import { AsyncLocalStorage } from 'node:async_hooks';
import { randomUUID } from 'node:crypto';
import { ActionDeniedError, type ApprovedChange, responseStatuses, type ToolOutcome } from '@actlog/recorder';
import {
  AdapterCalls,
  type AdapterOptions,
  currentSessionId,
  type HookedCall,
  mcpErrorStatus,
  noteTexts,
  processWide,
  processWidePerOwner,
  refuseOptions,
  toolContent,
  type WithoutOptions,
  withMethods,
} from '@actlog/recorder/adapter';
import type {
  CallableTool,
  Chat,
  Content,
  ContentListUnion,
  ContentUnion,
  FunctionCall,
  GenerateContentConfig,
  GenerateContentParameters,
  GenerateContentResponse,
  GoogleGenAI,
  Part,
  ToolUnion,
} from '@google/genai';

/** Version of this package; the release writes it. */
export const version = '0.0.0';

/** Content of a function response. Without `output` and `error`, the model sees the whole object. */
type Response = Readonly<Record<string, unknown>>;

/** Calls of functions that no tool of their request declares. */
const unknownCalls = new WeakSet<HookedCall>();

/** Remembers a call whose function no tool of the request declares. */
function rememberUnknown(call: HookedCall): void {
  unknownCalls.add(call);
}

/** Returns the outcome of a call: a failure if the tool returns a response with an `error`. */
function outcomeOfResponse(outcome: ToolOutcome): ToolOutcome {
  if (!outcome.ok) return outcome;
  const failed = responsesOf(outcome.result).find(({ error }) => error !== undefined && error !== null);
  return failed ? { ok: false, error: failed.error } : outcome;
}

/** Returns the status for an unknown function or an error of an MCP server. */
function statusOfFunction(outcome: ToolOutcome, call: HookedCall): number | undefined {
  if (call.signal?.aborted) return undefined;
  if (unknownCalls.has(call) && !hasResponse(outcome)) return responseStatuses.unknownTool;
  if (outcome.ok) return undefined;
  const [text] = [toolContent(outcome.error)].flat();
  return typeof text === 'string' ? mcpErrorStatus(text, undefined, call.toolName) : undefined;
}

/** Returns what the model sees of the parts that a tool returned. */
function shownResponse(result: unknown): unknown {
  const shown = responsesOf(result).map((response) => {
    const names = Object.keys(response);
    const [name = ''] = names;
    const isWrapped = names.length === 1 && ['output', 'result', 'error'].includes(name);
    return toolContent(isWrapped ? response[name] : response);
  });
  return shown.length === 1 ? shown[0] : shown;
}

function hasResponse(outcome: ToolOutcome): boolean {
  return outcome.ok && responsesOf(outcome.result).length > 0;
}

function responsesOf(result: unknown): Response[] {
  const parts = (Array.isArray(result) ? result : []) as readonly Part[];
  return parts.flatMap((part) => {
    const response = part?.functionResponse?.response;
    return response ? [response] : [];
  });
}

const identity = {
  framework: 'google-genai',
  sdk: `@actlog/google-genai/${version}`,
  form: 'actlog(ai, { guard })',
};

/** Creates the `AdapterCalls` of functions that the SDK runs, and that return parts of a message. */
function automaticCalls(options: AdapterOptions): AdapterCalls {
  return new AdapterCalls(
    { ...identity, outcomeOf: outcomeOfResponse, statusOf: statusOfFunction, resultOf: shownResponse },
    options,
  );
}

/** Creates the `AdapterCalls` of functions that a manual loop runs. */
export function manualCalls(options: AdapterOptions): AdapterCalls {
  return new AdapterCalls({ ...identity, resultOf: toolContent }, options);
}

/** Session of a chat, known from its first request on. */
interface ChatSession {
  sessionId: string | undefined;
}

const chatSessions = processWide(
  '@actlog/google-genai/chat-sessions',
  () => new AsyncLocalStorage<ChatSession>(),
);

/** Gives a chat its own session, because the SDK copies its history for each request. */
function recordChat(chat: Chat): Chat {
  const session: ChatSession = { sessionId: undefined };
  const { sendMessage, sendMessageStream } = chat;
  chat.sendMessage = (params) => chatSessions().run(session, () => sendMessage.call(chat, params));
  chat.sendMessageStream = (params) =>
    chatSessions().run(session, () => sendMessageStream.call(chat, params));
  return chat;
}

/** Returns the session of a request: from the surrounding `session.run`, its chat, or its conversation. */
function sessionOf(calls: AdapterCalls, messages: readonly Content[]): string | undefined {
  const chat = chatSessions().getStore();
  const surrounding = currentSessionId();
  if (!chat || surrounding !== undefined) return surrounding ?? calls.conversations.sessionOf(messages);
  chat.sessionId ??= calls.conversations.sessionOf(messages);
  return chat.sessionId;
}

/** A client of `@google/genai`: a `GoogleGenAI` of any version that the adapter works with. */
export interface GenAIClient {
  readonly models: {
    generateContent(params: never): Promise<unknown>;
    generateContentStream(params: never): Promise<AsyncGenerator<unknown>>;
  };
  readonly chats: { create(params: never): unknown };
}

/** Records and guards all calls that a client runs for the functions of its requests and chats. */
export function recordClient<Client extends GenAIClient>(
  client: Client & WithoutOptions,
  options: AdapterOptions = {},
): Client {
  refuseOptions(client, 'actlog(new GoogleGenAI({ apiKey }), { guard })');
  if (typeof client?.models?.generateContent !== 'function' || typeof client.chats?.create !== 'function') {
    throw new TypeError('actlog: pass a client, such as actlog(new GoogleGenAI({ apiKey })).');
  }
  const calls = automaticCalls(options);
  const { models, chats } = client as unknown as Pick<GoogleGenAI, 'models' | 'chats'>;
  const { generateContent, generateContentStream } = models;
  models.generateContent = async (params) =>
    runsFunctions(params?.config)
      ? generateContent(new FunctionRun(calls, params).params)
      : generateContent(params);
  models.generateContentStream = async (params) => {
    if (!runsFunctions(params?.config)) return generateContentStream(params);
    const run = new FunctionRun(calls, params);
    return run.watch(await generateContentStream(run.params));
  };
  const { create } = chats;
  chats.create = (params) => recordChat(create.call(chats, params));
  return client;
}

/** Returns `true` if the SDK runs the functions of a request itself. */
function runsFunctions({ tools, automaticFunctionCalling }: GenerateContentConfig = {}): boolean {
  const { disable, maximumRemoteCalls: limit } = automaticFunctionCalling ?? {};
  if (disable || (limit !== undefined && !(Number.isInteger(limit) && limit > 0))) return false;
  return tools?.some(isCallableTool) ?? false;
}

/** Ids of calls without one from the model, shared by all hooks that see the same call. */
const ownCallId = processWidePerOwner<FunctionCall, string>('@actlog/google-genai/call-ids', randomUUID);

/** A request for which the SDK runs the functions that the model calls, until it calls none. */
class FunctionRun {
  readonly #calls: AdapterCalls;
  readonly #params: GenerateContentParameters;
  readonly #messages: readonly Content[];
  readonly #sessionId: string | undefined;
  readonly #tools: readonly CallableTool[];
  /** Names of the functions of each tool, from the declarations that the SDK requested last. */
  readonly #names = new Map<CallableTool, ReadonlySet<string | undefined>>();

  constructor(calls: AdapterCalls, params: GenerateContentParameters) {
    this.#calls = calls;
    this.#params = params;
    this.#messages = messagesOf(params.contents);
    this.#sessionId = sessionOf(calls, this.#messages);
    this.#tools = params.config?.tools?.filter(isCallableTool) ?? [];
    rememberRequest(calls, this.#sessionId, params);
  }

  /** The request with its tools recorded and guarded. */
  get params(): GenerateContentParameters {
    const tools = this.#params.config?.tools?.map((tool) =>
      isCallableTool(tool) ? this.#recorded(tool) : tool,
    );
    return { ...this.#params, config: { ...this.#params.config, ...(tools && { tools }) } };
  }

  /** Yields the responses of a stream, and records calls of unknown functions, at which the SDK ends it. */
  async *watch(stream: AsyncIterable<GenerateContentResponse>): AsyncGenerator<GenerateContentResponse> {
    for await (const response of stream) {
      for (const { functionCall } of response.candidates?.[0]?.content?.parts ?? []) {
        if (functionCall?.name && !this.#isDeclared(functionCall)) this.#recordUnknown(functionCall);
      }
      yield response;
    }
  }

  #recorded(tool: CallableTool): CallableTool {
    return withMethods(tool, {
      tool: async () => {
        const declared = await tool.tool();
        this.#names.set(tool, new Set(declared.functionDeclarations?.map(({ name }) => name)));
        return declared;
      },
      callTool: (functionCalls: readonly FunctionCall[]) => this.#callTool(tool, functionCalls),
    });
  }

  /** Runs the calls of a turn that belong to a tool, one after the other like `mcpToTool`. */
  async #callTool(tool: CallableTool, functionCalls: readonly FunctionCall[]): Promise<Part[]> {
    const parts: Part[] = [];
    for (const functionCall of functionCalls) {
      const receivers = this.#receivers(tool, functionCall);
      if (receivers.length > 0) parts.push(...(await this.#run(functionCall, receivers)));
    }
    return parts;
  }

  /**
   * Returns the tools that a call is passed to when the SDK passes it to one: to the tool that declares it. A call that
   * no tool declares is passed to all, as the SDK does, but as one call.
   */
  #receivers(tool: CallableTool, functionCall: FunctionCall): readonly CallableTool[] {
    if (this.#names.get(tool)?.has(functionCall.name)) return [tool];
    return tool === this.#tools[0] && !this.#isDeclared(functionCall) ? this.#tools : [];
  }

  #isDeclared({ name }: FunctionCall): boolean {
    return [...this.#names.values()].some((names) => names.has(name));
  }

  async #run(functionCall: FunctionCall, receivers: readonly CallableTool[]): Promise<Part[]> {
    const run = async (_args?: unknown, change?: ApprovedChange) => {
      const parts: Part[] = [];
      const args = change?.arguments as FunctionCall['args'];
      const given = change ? { ...functionCall, ...(args && { args }) } : functionCall;
      for (const receiver of receivers) parts.push(...(await receiver.callTool([given])));
      return parts;
    };
    const call = this.#hookedCall(functionCall);
    if (!this.#calls.covers(call.toolName)) return run();
    if (!this.#isDeclared(functionCall)) rememberUnknown(call);
    try {
      return await this.#calls.run(call, run);
    } catch (error) {
      if (!ActionDeniedError.isInstance(error)) throw error;
      const { id, name } = functionCall;
      const response = { error: error.message };
      return [{ functionResponse: { ...(id && { id }), ...(name && { name }), response } }];
    }
  }

  #recordUnknown(functionCall: FunctionCall): void {
    const call = this.#hookedCall(functionCall);
    if (!this.#calls.covers(call.toolName) || !this.#calls.claim(functionCall)) return;
    const error = Object.assign(new Error('Unknown function.'), { status: responseStatuses.unknownTool });
    this.#calls.record(call, { ok: false, error });
  }

  #hookedCall(functionCall: FunctionCall): HookedCall {
    const { id, name: toolName = 'unknown', args = {} } = functionCall;
    const sessionId = this.#sessionId;
    this.#calls.conversations.note(this.#messages, { toolName, callId: id }, sessionId);
    return {
      toolName,
      arguments: args,
      callId: id ?? ownCallId(functionCall),
      sessionId,
      signal: this.#params.config?.abortSignal,
      acceptsChanges: true,
    };
  }
}

/** Returns `true` for a tool whose functions the SDK runs. */
function isCallableTool(tool: ToolUnion): tool is CallableTool {
  return (
    typeof tool === 'object' && tool !== null && 'callTool' in tool && typeof tool.callTool === 'function'
  );
}

/** Returns the messages of a request, which may also be one message, a string, or parts of one message. */
export function messagesOf(contents: ContentListUnion): Content[] {
  const items = Array.isArray(contents) ? contents : [contents];
  return isContent(items[0])
    ? (items as Content[])
    : [{ role: 'user', parts: partsOf(items as ContentUnion) as NonNullable<Content['parts']> }];
}

/** Remembers the user messages and the system instruction, for argument origins. */
function rememberRequest(
  calls: AdapterCalls,
  sessionId: string | undefined,
  { contents, config }: Pick<GenerateContentParameters, 'contents' | 'config'>,
): void {
  noteTexts(calls, () => ({
    sessionId,
    user: messagesOf(contents)
      .filter(({ role = 'user' }) => role === 'user')
      .map(({ parts }) => parts),
    system: [config?.systemInstruction && partsOf(config.systemInstruction)],
  }));
}

function isContent(value: unknown): value is Content {
  return typeof value === 'object' && value !== null && Array.isArray((value as Content).parts);
}

/** Returns the parts of a message in any of its forms. A string is one part. */
export function partsOf(content: ContentUnion): unknown[] {
  if (isContent(content)) return content.parts ?? [];
  const parts = Array.isArray(content) ? content : [content];
  return parts.map((part) => (typeof part === 'string' ? { text: part } : part));
}
