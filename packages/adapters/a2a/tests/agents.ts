import type { AgentCard, Message, Part } from '@a2a-js/sdk';
import { Role, TaskState } from '@a2a-js/sdk';
import {
  type CallInterceptor,
  type Client,
  ClientFactory,
  JsonRpcTransportFactory,
} from '@a2a-js/sdk/client';
import {
  AgentEvent,
  type AgentExecutor,
  DefaultRequestHandler,
  type ExecutionEventBus,
  InMemoryTaskStore,
  JsonRpcTransportHandler,
  type RequestContext,
  ServerCallContext,
} from '@a2a-js/sdk/server';

/** Creates a part with a text. */
export function textPart(value: string): Part {
  return { content: { $case: 'text', value }, metadata: undefined, filename: '', mediaType: 'text/plain' };
}

/** Creates a part with data. */
export function dataPart(value: unknown): Part {
  return {
    content: { $case: 'data', value },
    metadata: undefined,
    filename: '',
    mediaType: 'application/json',
  };
}

/** Creates a message. */
export function newMessage(parts: readonly Part[], fields: Partial<Message> = {}): Message {
  return {
    messageId: crypto.randomUUID(),
    contextId: '',
    taskId: '',
    role: Role.ROLE_USER,
    metadata: undefined,
    extensions: [],
    referenceTaskIds: [],
    ...fields,
    parts: [...parts],
  };
}

/** Creates a request to send a message. */
export function requestOf(message: Message) {
  return { tenant: '', message, configuration: undefined, metadata: undefined };
}

/** Creates the card of an agent. */
export function cardOf(name: string, url: string, protocolBinding = 'JSONRPC'): AgentCard {
  return {
    name,
    description: '',
    supportedInterfaces: [{ url, protocolBinding, tenant: '', protocolVersion: '1.0' }],
    provider: undefined,
    version: '1.0.0',
    capabilities: { streaming: true, pushNotifications: false, extensions: [], extendedAgentCard: false },
    securitySchemes: {},
    securityRequirements: [],
    defaultInputModes: ['text/plain'],
    defaultOutputModes: ['text/plain'],
    skills: [],
    signatures: [],
  };
}

/** Publishes the task of a request in a state, with a text. */
export function publishTask(
  { taskId, contextId, userMessage }: RequestContext,
  bus: ExecutionEventBus,
  state: TaskState,
  text?: string,
): void {
  const parts = text === undefined ? undefined : [textPart(text)];
  const message = parts && newMessage(parts, { role: Role.ROLE_AGENT, taskId, contextId });
  const status = { state, message, timestamp: undefined };
  bus.publish(
    AgentEvent.task({
      id: taskId,
      contextId,
      status,
      artifacts: [],
      history: [userMessage],
      metadata: undefined,
    }),
  );
}

/** Publishes the next state of a task. */
export function publishState(
  { taskId, contextId }: RequestContext,
  bus: ExecutionEventBus,
  state: TaskState,
): void {
  const status = { state, message: undefined, timestamp: undefined };
  bus.publish(AgentEvent.statusUpdate({ taskId, contextId, status, metadata: undefined }));
}

/** Publishes a text as an artifact. */
export function publishText(
  { taskId, contextId }: RequestContext,
  bus: ExecutionEventBus,
  text: string,
): void {
  const artifact = {
    artifactId: 'a',
    name: '',
    description: '',
    parts: [textPart(text)],
    metadata: undefined,
    extensions: [],
  };
  const update = { taskId, contextId, artifact, append: false, lastChunk: true, metadata: undefined };
  bus.publish(AgentEvent.artifactUpdate(update));
}

/** Creates an executor from a function that publishes. */
export function executorOf(execute: AgentExecutor['execute']): AgentExecutor {
  return { execute, cancelTask: async () => {} };
}

/** Creates an executor that completes a task with the text that a function returns for the text of the message. */
export function answering(answer: (text: string) => Promise<string>): AgentExecutor {
  return executorOf(async (context, bus) => {
    const [part] = context.userMessage.parts;
    if (part?.content?.$case !== 'text') {
      publishTask(context, bus, TaskState.TASK_STATE_REJECTED, 'Only texts are supported.');
      return;
    }
    publishTask(context, bus, TaskState.TASK_STATE_WORKING);
    publishText(context, bus, await answer(part.content.value));
    publishState(context, bus, TaskState.TASK_STATE_COMPLETED);
  });
}

/** Creates the request handler of an agent. */
export function handlerOf(card: AgentCard, executor: AgentExecutor): DefaultRequestHandler {
  return new DefaultRequestHandler(card, new InMemoryTaskStore(), executor);
}

/**
 * Agents that are reached in this process, with the SDK's own JSON-RPC on both sides, so that the async context of the
 * caller reaches the executor.
 */
export class AgentNetwork {
  readonly #handlers = new Map<string, JsonRpcTransportHandler>();

  /** Adds an agent. */
  add(name: string, executor: AgentExecutor): void {
    const handler = handlerOf(cardOf(name, this.#urlOf(name)), executor);
    this.#handlers.set(this.#urlOf(name), new JsonRpcTransportHandler(handler));
  }

  /** Creates a client of an agent, whether or not the agent exists. */
  connect(name: string, interceptors: CallInterceptor[] = []): Promise<Client> {
    const fetchImpl: typeof fetch = (url, init) => this.#fetch(String(url), init);
    const factory = new ClientFactory({
      transports: [new JsonRpcTransportFactory({ fetchImpl })],
      clientConfig: { interceptors },
    });
    return factory.createFromAgentCard(cardOf(name, this.#urlOf(name)));
  }

  #urlOf(name: string): string {
    return `http://agents.example/${name}`;
  }

  async #fetch(url: string, { body, headers, signal }: RequestInit = {}): Promise<Response> {
    const handler = this.#handlers.get(url);
    if (!handler) return new Response('No such agent.', { status: 404 });
    const sentHeaders = Object.fromEntries(new Headers(headers));
    const context = new ServerCallContext({
      requestedVersion: '1.0',
      state: new Map([['headers', sentHeaders]]),
    });
    const aborted = new Promise<never>((_, reject) => {
      signal?.addEventListener('abort', () => reject(signal.reason as Error));
    });
    const result = await Promise.race([handler.handle(String(body), context), aborted]);
    if (!(Symbol.asyncIterator in result)) return Response.json(result);
    const events = ReadableStream.from(sse(result));
    return new Response(events, { headers: { 'content-type': 'text/event-stream' } });
  }
}

async function* sse(results: AsyncGenerator<object, void, undefined>): AsyncGenerator<Uint8Array> {
  const encoder = new TextEncoder();
  for await (const result of results) yield encoder.encode(`data: ${JSON.stringify(result)}\n\n`);
}
