import { callMethod, giveUpCalls, isCallParams, metaKey, newSessionId } from '@actlog/recorder/adapter';
import type { GatewayCalls } from '../calls/gateway-calls.ts';
import {
  CallLine,
  type CallRequest,
  type DecidedLine,
  OpenCall,
  type ResponseChanges,
} from '../calls/open-call.ts';
import {
  errorText,
  findAmbiguity,
  isResponse,
  lineOf,
  messagesOf,
  OrderedOutput,
  parseMessage,
  RpcError,
  type RpcMessage,
  rpcErrors,
  withElements,
  withValue,
} from '../messages/json-rpc.ts';
import { listChangedLine, promptsChangedLine, type ToolLists } from '../tools/tool-lists.ts';
import { OpenCalls } from './open-calls.ts';

/** Both ends of a connection. Each message is a line of JSON with or without its line ending. */
export interface RelayEnds {
  toServer(line: Buffer): void;
  toClient(line: Buffer): void;
  /** Reports a line of the client that is not forwarded and gets no response, for transports that must respond. */
  dropped?(): void;
  /** Sends a request of the gateway itself to the server. Default: like a line of the client. */
  ask?(line: Buffer): void;
}

/** Options of a relay. */
export interface RelayOptions {
  /** Session of the calls. Default: a new one. */
  readonly sessionId?: string | undefined;
  /** Name that the client gave itself in an earlier exchange of its session. */
  readonly clientName?: string | undefined;
  /** Calls of the session, if its messages come in several exchanges. Default: none yet. */
  readonly open?: OpenCalls | undefined;
  /** Agent of the calls, if the client proved it. Default: the agent of the calls, or the name that the client gives itself. */
  readonly agentId?: string | undefined;
  /** Person or system on whose behalf the calls are made, if the client proved it. */
  readonly principal?: string | undefined;
  /** `false` if the client cannot be notified in this exchange. Default `true`. */
  readonly canNotify?: boolean | undefined;
}

/**
 * Passes the messages of one MCP session between a client and a server, byte for byte. Only tool calls are recorded and
 * guarded: one that is not allowed gets its response here, and a line is changed only if a part of it is not forwarded
 * or if two sides record the same call.
 */
export class Relay {
  readonly sessionId: string;
  readonly #calls: GatewayCalls;
  readonly #ends: RelayEnds;
  readonly #output: OrderedOutput;
  readonly #open: OpenCalls;
  readonly #lists: ToolLists | undefined;
  readonly #agentId: string | undefined;
  readonly #principal: string | undefined;
  readonly #stopNotifying: () => void;
  /** Calls of this exchange. */
  readonly #own = new Set<OpenCall>();
  /** Responses to refused calls of a batch, by a call of the batch that was forwarded: a batch has one response. */
  readonly #owed = new WeakMap<OpenCall, string[]>();
  #clientName: string | undefined;
  #isClientGone = false;

  constructor(
    calls: GatewayCalls,
    ends: RelayEnds,
    { sessionId, clientName, open, agentId, principal, canNotify = true }: RelayOptions = {},
  ) {
    this.#agentId = agentId;
    this.#principal = principal;
    this.#open = open ?? new OpenCalls();
    this.#lists = calls.tools && this.#open.lists(calls.tools);
    this.#calls = calls;
    this.#ends = ends;
    this.sessionId = sessionId ?? newSessionId();
    this.#clientName = clientName;
    this.#output = new OrderedOutput((line) => ends.toClient(line));
    this.#stopNotifying = canNotify ? this.#notifyOfTools() : () => {};
  }

  /** Name that the client gives itself. */
  get clientName(): string | undefined {
    return this.#clientName;
  }

  /**
   * Takes a message, or a batch, of the client.
   *
   * @param traceparent - of the request that brought it, for calls that state none in `_meta`
   */
  fromClient(line: Buffer, traceparent?: string | undefined): void {
    const text = line.toString();
    if (text.trim() === '') {
      this.#ends.toServer(line);
      return;
    }
    const value = parseMessage(text);
    if (this.#calls.isGuarding) {
      const problem = value === undefined ? 'is not JSON' : findAmbiguity(line, text, value);
      if (problem !== undefined) {
        this.#output.write(refusalOf(value, problem));
        return;
      }
    }
    const messages = messagesOf(value);
    for (const message of messages) this.#clientName = clientNameIn(message) ?? this.#clientName;
    const refused = this.#refusedPrompts(messages, Array.isArray(value));
    if (refused) {
      this.#output.write(refused);
      return;
    }
    this.#lists?.request(messages);
    if (messages.some(isCall)) this.#takeCalls(line, messages, Array.isArray(value), traceparent);
    else this.#passToServer(line, messages);
  }

  /** Takes a message, or a batch, of the server. */
  fromServer(line: Buffer): void {
    const concernsLists = this.#lists?.concerns(line) === true;
    if (this.#open.isEmpty && !concernsLists) {
      this.#output.write(line);
      return;
    }
    const value = parseMessage(line.toString());
    const messages = messagesOf(value);
    const isBatch = Array.isArray(value);
    if (concernsLists && this.#lists?.consume(messages)) return;
    const shown = concernsLists ? this.#lists?.shown(line, messages, isBatch, this.#caller) : undefined;
    const responses = messages.filter(isResponse);
    const ended = responses.flatMap((response) => {
      const call = this.#open.take(response.id);
      call?.respond(response);
      return call ?? [];
    });
    this.#output.write(
      ended.length === 0 ? (shown ?? line) : this.#responseLine(shown ?? line, ended, isBatch),
    );
  }

  /** Gives up all calls after the client has disconnected: calls that wait for a decision never run. */
  clientGone(): void {
    this.#isClientGone = true;
    this.#stopNotifying();
    this.cancelWaiting(() => true);
    giveUpCalls(this);
  }

  /** Cancels the calls that wait for a decision, and whose client no longer waits. */
  cancelWaiting(isOf: (id: unknown) => boolean): void {
    const reason = new DOMException('The client disconnected.', 'AbortError');
    for (const call of this.#own) if (!call.isDecided && isOf(call.id)) call.cancel(reason);
  }

  /**
   * Ends all calls without a response, because the server is gone, and resolves when they are recorded.
   *
   * @param because - reason for the client, such as `the server ended with exit code 1`
   */
  async serverGone(because: string): Promise<void> {
    if (this.#isClientGone) {
      await this.close();
      return;
    }
    const error = new RpcError(rpcErrors.connectionClosed, `${because}: Connection closed`);
    for (const call of this.#unanswered()) {
      // A call that waits reports its end itself.
      if (call.isDecided)
        this.#output.write(lineOf(errorText(call.id, rpcErrors.connectionClosed, error.message)));
    }
    await this.fail(error);
  }

  /** Ends all calls without a response by an error that the client knows, and resolves when they are recorded. */
  async fail(error: RpcError): Promise<void> {
    for (const call of this.#unanswered()) {
      if (call.isDecided) this.#open.remove(call);
      call.fail(error);
    }
    await this.recorded();
  }

  /** Ends the calls that are still open without a response, and resolves when they are recorded. */
  async close(): Promise<void> {
    const reason = new DOMException('The connection was closed.', 'AbortError');
    for (const call of this.#unanswered()) {
      this.#open.remove(call);
      call.cancel(reason);
    }
    this.#stopNotifying();
    giveUpCalls(this);
    await this.recorded();
  }

  /** Resolves when all calls that have ended are recorded, and their responses passed on. */
  async recorded(): Promise<void> {
    const ended = [...this.#own].filter((call) => !this.#open.has(call) || !call.isDecided);
    await Promise.allSettled(ended.map((call) => call.recorded));
    await this.#output.written;
  }

  get #caller() {
    return { sessionId: this.sessionId, agentId: this.#agentId ?? this.#calls.agentId ?? this.#clientName };
  }

  /** Notifies the client when it should list the tools again, until the returned function is called. */
  #notifyOfTools(): () => void {
    const { tools } = this.#calls;
    const notify = () => this.#output.write(listChangedLine);
    const stops = [
      tools?.onChange(notify),
      tools?.prompts?.onChange(() => this.#output.write(promptsChangedLine)),
      tools?.denied?.onChange((agentId) => {
        if (agentId === this.#caller.agentId) notify();
      }),
    ];
    return () => {
      for (const stop of stops) stop?.();
    };
  }

  /** Returns the response to messages that request a prompt which is not accepted; undefined without any. */
  #refusedPrompts(messages: readonly RpcMessage[], isBatch: boolean): Buffer | undefined {
    const problems = messages.flatMap(({ method, params }) => {
      const { name } = (params ?? {}) as { readonly name?: unknown };
      const isPrompt = method === 'prompts/get' && typeof name === 'string';
      return (isPrompt && this.#calls.tools?.prompts?.refusalOf(name)) || [];
    });
    const [problem] = problems;
    if (problem === undefined) return undefined;
    // The others of a batch are refused with it, because nothing of a line with such a request is forwarded.
    const responses = messages.flatMap(({ id, method }) =>
      id === undefined || method === undefined ? [] : errorText(id, rpcErrors.invalidRequest, problem),
    );
    return lineOf(isBatch ? `[${responses.join(',')}]` : responses.join(''));
  }

  /** Returns when a tool may be called, or `undefined` if it may at once. */
  #admit({ params }: CallRequest, holdMs: number, signal: AbortSignal): Promise<void> | undefined {
    const { tools } = this.#calls;
    const lists = this.#lists;
    if (!tools || !lists) return undefined;
    const caller = this.#caller;
    const admit = () => tools.admit(params.name, caller, { holdMs, signal });
    if (!tools.isStale) return admit();
    return lists.list(caller, params, this.#ends.ask ?? this.#ends.toServer).then(admit);
  }

  /** Returns the calls of this exchange without a response. */
  #unanswered(): OpenCall[] {
    return [...this.#own].filter((call) => this.#open.has(call));
  }

  #passToServer(line: Buffer, messages: readonly RpcMessage[]): void {
    const cancellations = messages.flatMap((message) => cancellationIn(message) ?? []);
    const held = (one: Cancellation) => this.#open.get(one.requestId)?.isDecided === false;
    // The server has not seen a call that waits, so the end of the wait is not its business.
    const isOurs = cancellations.length === messages.length && cancellations.every(held);
    if (isOurs) this.#ends.dropped?.();
    else this.#ends.toServer(line);
    for (const { requestId, reason } of cancellations) this.#open.take(requestId)?.cancel(reason);
  }

  #takeCalls(
    line: Buffer,
    messages: readonly RpcMessage[],
    isBatch: boolean,
    traceparent: string | undefined,
  ): void {
    const calls: OpenCall[] = [];
    const requests = [...messages.entries()].filter((entry): entry is [number, CallRequest] =>
      isCall(entry[1]),
    );
    const decided = (parts: DecidedLine) => this.#deliver(parts, isBatch, calls);
    const callLine = new CallLine(line, isBatch, requests.length, decided);
    for (const message of messages) {
      const cancellation = cancellationIn(message);
      if (cancellation) this.#open.take(cancellation.requestId)?.cancel(cancellation.reason);
    }
    for (const [index, request] of requests) {
      const call: OpenCall = new OpenCall(request, {
        calls: this.#calls,
        owner: this,
        ...this.#caller,
        principal: this.#principal,
        traceparent,
        admit: (holdMs, signal) => this.#admit(request, holdMs, signal),
        decided: (decision) => {
          // A refusal never comes before the constructor has returned: it needs a check.
          if (!decision.runs) this.#open.remove(call);
          callLine.decide(index, decision);
        },
        notify: (text) => this.#output.write(lineOf(text)),
      });
      calls.push(call);
      this.#open.add(call);
      this.#own.add(call);
      void call.recorded.finally(() => this.#own.delete(call));
    }
  }

  /** Forwards a decided line, and responds to its calls that are not forwarded. */
  #deliver({ forwarded, responses }: DecidedLine, isBatch: boolean, calls: readonly OpenCall[]): void {
    if (forwarded) this.#ends.toServer(forwarded);
    if (!forwarded && responses.length === 0) this.#ends.dropped?.();
    if (responses.length === 0) return;
    const running = calls.filter((call) => this.#open.has(call));
    if (isBatch && forwarded && running.length > 0) {
      const owed = [...responses];
      for (const call of running) this.#owed.set(call, owed);
    } else {
      this.#output.write(lineOf(isBatch ? `[${responses.join(',')}]` : responses.join('')));
    }
  }

  /** Returns the server's response when its calls are recorded: the same line, except for changed outcomes. */
  async #responseLine(
    received: Buffer | Promise<Buffer>,
    calls: readonly OpenCall[],
    isBatch: boolean,
  ): Promise<Buffer> {
    const line = await received;
    const changes = await Promise.all(calls.map((call) => call.recorded));
    const owed = calls.flatMap((call) => this.#owed.get(call)?.splice(0) ?? []);
    const changed = isBatch ? line : withChanges(line, changes[0]);
    if (owed.length === 0) return changed;
    const text = changed.toString();
    return isBatch
      ? Buffer.from(withElements(text, owed))
      : Buffer.concat([changed, lineOf(`[${owed.join(',')}]`)]);
  }
}

function isCall(message: RpcMessage): message is CallRequest {
  return message.method === callMethod && isCallParams(message.params);
}

/**
 * Returns a response with the outcomes for a client that recorded the call, or without those that are meant for the
 * gateway: the very line if there are neither.
 */
function withChanges(line: Buffer, changes: ResponseChanges | undefined): Buffer {
  if (!changes) return line;
  const noticed = changes.notice === undefined ? line : withNotice(line, changes.notice);
  if (changes.outcomes.length === 0 && !changes.removesOutcomes) return noticed;
  const outcomes = changes.removesOutcomes ? undefined : changes.outcomes;
  return Buffer.from(withValue(noticed.toString(), ['result', '_meta', metaKey], outcomes));
}

/** Returns a response with a sentence for the model as the last block of its content; the very line if it has none. */
function withNotice(line: Buffer, text: string): Buffer {
  const response = line.toString();
  const { result } = (parseMessage(response) ?? {}) as { readonly result?: { readonly content?: unknown } };
  if (!Array.isArray(result?.content)) return line;
  return Buffer.from(
    withValue(response, ['result', 'content', result.content.length], { type: 'text', text }),
  );
}

/** Key in `_meta` of requests for the client's name, where the connection has no `initialize` (revision 2026-07-28). */
const clientInfoKey = 'io.modelcontextprotocol/clientInfo';

/** Returns the name that a client gives itself in a request; undefined if the request has none. */
function clientNameIn({ method, params }: RpcMessage): string | undefined {
  const { clientInfo, _meta: meta } = (params ?? {}) as {
    readonly clientInfo?: unknown;
    readonly _meta?: { readonly [clientInfoKey]?: unknown } | null;
  };
  const info = method === 'initialize' ? clientInfo : meta?.[clientInfoKey];
  const { name } = (info ?? {}) as { readonly name?: unknown };
  return typeof name === 'string' && name.trim() !== '' ? name : undefined;
}

/**
 * Returns the response to a message that the server may read in another way than the gateway: it was not forwarded.
 *
 * @param value - the parsed message; undefined if it is not JSON
 * @param problem - end of a sentence, such as `has a member twice`
 */
function refusalOf(value: unknown, problem: string): Buffer {
  const message =
    `The message ${problem}, so that its tool call cannot be checked, and was not forwarded. ` +
    'Send it as one JSON-RPC message in UTF-8 with each member once.';
  const code = value === undefined ? rpcErrors.parseError : rpcErrors.invalidRequest;
  const requests = messagesOf(value).filter(({ id, method }) => id !== undefined && method !== undefined);
  const ids = requests.length === 0 ? [null] : requests.map(({ id }) => id);
  const responses = ids.map((id) => errorText(id, code, message));
  return lineOf(Array.isArray(value) ? `[${responses.join(',')}]` : responses.join(''));
}

const cancelMethod = 'notifications/cancelled';

/** A client's notification that it does not want a response any more. */
interface Cancellation {
  readonly requestId: unknown;
  /** Reason for the record: clients cancel calls that take too long in the same way. */
  readonly reason: DOMException;
}

/** Reads a cancellation (Model Context Protocol, "Cancellation"); undefined for another message. */
function cancellationIn({ method, params }: RpcMessage): Cancellation | undefined {
  if (method !== cancelMethod) return undefined;
  const { requestId, reason } = (params ?? {}) as { readonly requestId?: unknown; readonly reason?: unknown };
  if (requestId === undefined) return undefined;
  const isTimeout = typeof reason === 'string' && /timed? ?out/i.test(reason);
  return {
    requestId,
    reason: isTimeout
      ? new DOMException('The client gave up the call after its time limit.', 'TimeoutError')
      : new DOMException('The client canceled the call.', 'AbortError'),
  };
}
