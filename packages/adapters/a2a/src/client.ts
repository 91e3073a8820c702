import type { ToolOutcome } from '@actlog/recorder';
import {
  abandonedCall,
  currentSessionId,
  type HookedCall,
  newSessionId,
  SessionsById,
  TargetHooks,
  targetHooks,
  withMethods,
} from '@actlog/recorder/adapter';
import { type ActlogOptions, a2aCalls } from './a2a-calls.ts';
import { withCallerSession } from './caller-session.ts';
import { type MessageRequest, messageArguments } from './message-arguments.ts';
import { type AgentResponse, ResponseInProgress } from './response.ts';

const brand = Symbol.for('@actlog/a2a/client');

/** Sessions of conversations that had none before the agent gave them a context and a task. */
const sessions = new SessionsById('@actlog/a2a/sessions');

/** A `Client` of `@a2a-js/sdk/client`. */
export interface A2aClient {
  readonly transport: object;
  sendMessage(...args: never[]): Promise<unknown>;
  sendMessageStream(...args: never[]): AsyncGenerator<unknown, void, undefined>;
}

interface RequestOptions {
  readonly signal?: AbortSignal;
  readonly serviceParameters?: Readonly<Record<string, string>>;
}

interface StreamResponse {
  readonly payload?: {
    readonly $case: 'message' | 'task' | 'statusUpdate' | 'artifactUpdate';
    readonly value: object;
  };
}

/** Internals of a client. */
interface Client {
  transport: {
    sendMessage(request: MessageRequest, options?: RequestOptions): Promise<AgentResponse>;
    sendMessageStream(
      request: MessageRequest,
      options?: RequestOptions,
    ): AsyncGenerator<StreamResponse, void, undefined>;
  };
  readonly agentCard?: { readonly name?: string };
}

/** Records and guards every message that a client sends. */
export function recordClient(target: A2aClient, options: ActlogOptions): void {
  const client = target as unknown as Client;
  const wrap = (hooks: ClientHooks) => wrapTransport(client, hooks, options.name);
  targetHooks(client, brand, wrap, () => new TargetHooks(a2aCalls)).add(options);
}

type ClientHooks = TargetHooks<ActlogOptions>;

/** Wraps the transport, because interceptors may change a message before it gets there, or respond themselves. */
function wrapTransport(client: Client, hooks: ClientHooks, name: string | undefined): void {
  const { transport } = client;
  const callOf = (request: MessageRequest, { signal }: RequestOptions = {}): MessageCall =>
    new MessageCall(name ?? client.agentCard?.name ?? '', request, signal);
  const value = withMethods(transport, {
    sendMessage(request: MessageRequest, options?: RequestOptions) {
      const call = callOf(request, options);
      return hooks.run(call.hooked, async () => {
        const sent = withCallerSession(options, hooks.recordersOf(call.hooked.toolName));
        return call.ended(await transport.sendMessage(request, sent));
      });
    },
    sendMessageStream: (request: MessageRequest, options?: RequestOptions) =>
      recordStream(hooks, callOf(request, options), (recorders) =>
        transport.sendMessageStream(request, withCallerSession(options, recorders)),
      ),
  });
  Object.defineProperty(client, 'transport', { configurable: true, enumerable: true, writable: true, value });
}

/** A message to another agent. */
class MessageCall {
  readonly hooked: HookedCall;
  /** Session of a conversation that has none yet. */
  readonly #newSessionId: string | undefined;

  constructor(agentName: string, request: MessageRequest, signal: AbortSignal | undefined) {
    const { contextId, taskId } = request?.message ?? {};
    const known = currentSessionId() || (sessions.get(contextId) ?? sessions.get(taskId)) || contextId;
    this.#newSessionId = known ? undefined : newSessionId();
    this.hooked = {
      toolName: agentName || 'remote_agent',
      arguments: messageArguments(request ?? {}, taskId),
      callId: crypto.randomUUID(),
      sessionId: known || this.#newSessionId,
      signal,
    };
  }

  /** Remembers the session of the response's context and task, and returns the response. */
  ended(response: AgentResponse): AgentResponse {
    if (this.#newSessionId === undefined || !response) return response;
    sessions.note(response.contextId, this.#newSessionId);
    sessions.note('messageId' in response ? response.taskId : response.id, this.#newSessionId);
    return response;
  }
}

/** Records a message whose response is a stream, by the last state that the reader has received. */
async function* recordStream(
  hooks: ClientHooks,
  call: MessageCall,
  send: (
    recorders: ReturnType<ClientHooks['recordersOf']>,
  ) => AsyncGenerator<StreamResponse, void, undefined>,
): AsyncGenerator<StreamResponse, void, undefined> {
  const recorders = hooks.recordersOf(call.hooked.toolName);
  const begun = await hooks.begin(call.hooked);
  const progress = new ResponseInProgress(recorders.some(({ tracesOrigins }) => tracesOrigins));
  const succeeded = (): ToolOutcome => ({ ok: true, result: call.ended(progress.response) });
  let outcome: ToolOutcome | undefined;
  let stream: AsyncGenerator<StreamResponse, void, undefined> | undefined;
  try {
    stream = begun.step(() => send(recorders));
    while (true) {
      // As a step, because a generator runs in the context of its reader.
      const next: IteratorResult<StreamResponse, void> = await begun.step(() =>
        (stream as AsyncGenerator<StreamResponse, void, undefined>).next(),
      );
      if (next.done) break;
      progress.add(next.value?.payload?.$case, next.value?.payload?.value);
      if (progress.isFinal) await begun.end(succeeded());
      yield next.value;
    }
    outcome = succeeded();
    stream = undefined;
  } catch (error) {
    outcome = { ok: false, error };
    stream = undefined;
    throw error;
  } finally {
    try {
      await stream?.return?.();
    } finally {
      // A reader that leaves does not stop the agent: the task continues.
      outcome ??= progress.response
        ? succeeded()
        : { ok: false, error: abandonedCall('The reader left before the agent responded.') };
      await begun.end(outcome);
    }
  }
}
