import { refuseOptions, TargetHooks, targetHooks } from '@actlog/recorder/adapter';
import { type ActlogOptions, acpCalls } from './acp-calls.ts';
import { Conversation } from './conversation.ts';
import type { Message } from './messages.ts';
import { type AcpStream, passing } from './stream.ts';

const brand = Symbol.for('@actlog/acp');

/** A `ClientApp` or an `AgentApp` of `@agentclientprotocol/sdk`. */
export interface AcpApp {
  connect(...args: never[]): unknown;
  connectWith(...args: never[]): Promise<unknown>;
  onNotification(...args: never[]): unknown;
}

/** Internals of an app. */
interface App {
  readonly builder: { connect(stream: AcpStream): unknown };
}

type Hooks = TargetHooks<ActlogOptions>;

/**
 * Records every tool call of a coding agent over the Agent Client Protocol, and guards those for which the agent requests
 * permission if the recorder's guard is on:
 *
 * ```ts
 * const app = actlog(client({ name: 'editor' }));
 * const connection = new ClientSideConnection(() => handler, actlog(ndJsonStream(output, input)));
 * ```
 *
 * Modifies and returns an app; returns a new stream for a stream. A second call for the same app has no effect, unless it
 * has another recorder or guard: then both apply.
 *
 * @param target - a `ClientApp`, for a program that runs an agent; an `AgentApp`, for the agent itself; or a
 * `Stream`, for a `ClientSideConnection` or an `AgentSideConnection`
 * @throws TypeError when the target is none of these, or an option is invalid
 * @throws when no recorder is given and the environment does not configure one; see `sharedRecorder`
 */
export function actlog<Target extends AcpApp | AcpStream>(
  target: Target,
  options: ActlogOptions = {},
): Target {
  if (isStream(target)) return recordStream(target, options);
  if (!isApp(target)) {
    refuseOptions(target, 'actlog(app, { guard })');
    throw new TypeError('target must be a ClientApp, an AgentApp or a Stream of @agentclientprotocol/sdk.');
  }
  const app = target as unknown as App;
  const wrap = (hooks: Hooks) => wrapConnect(app, hooks, options);
  targetHooks(target, brand, wrap, () => new TargetHooks(acpCalls)).add(options);
  return target;
}

/** Wraps the method that starts every connection of an app: over a stream, and with another app in the same process. */
function wrapConnect(app: App, hooks: Hooks, options: ActlogOptions): void {
  const { builder } = app;
  const connect = builder.connect;
  builder.connect = (stream) => connect.call(builder, recorded(stream, hooks, options));
}

function recordStream<Stream extends AcpStream>(stream: Stream, options: ActlogOptions): Stream {
  const hooks: Hooks = new TargetHooks(acpCalls);
  hooks.add(options);
  return recorded(stream, hooks, options);
}

function recorded<Stream extends AcpStream>(
  stream: Stream,
  hooks: Hooks,
  { allowWithoutAsking = false }: ActlogOptions,
): Stream {
  return passing(stream, ({ receive, send }) => {
    let conversation: Conversation | undefined;
    let isClient = true;
    // The client sends the first message, `initialize`.
    const start = (isOutgoing: boolean): Conversation => {
      if (conversation) return conversation;
      isClient = isOutgoing;
      const ends = isClient ? { toAgent: send, toClient: receive } : { toAgent: receive, toClient: send };
      conversation = new Conversation(hooks, allowWithoutAsking, ends);
      return conversation;
    };
    const pass = (message: Message, isOutgoing: boolean) => {
      const started = start(isOutgoing);
      if (isOutgoing === isClient) started.fromClient(message);
      else started.fromAgent(message);
    };
    return {
      incoming: (message) => pass(message, false),
      outgoing: (message) => pass(message, true),
      close: () => conversation?.close(),
    };
  });
}

function isStream(target: object): target is AcpStream {
  const { readable, writable } = target as Partial<AcpStream>;
  return readable instanceof ReadableStream && writable instanceof WritableStream;
}

function isApp(target: object): target is AcpApp {
  const { builder } = target as Partial<App>;
  return (
    typeof (target as Partial<AcpApp>).connectWith === 'function' && typeof builder?.connect === 'function'
  );
}
