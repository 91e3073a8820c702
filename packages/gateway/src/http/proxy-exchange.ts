import { once } from 'node:events';
import type { IncomingHttpHeaders, IncomingMessage, ServerResponse } from 'node:http';
import type { GatewayCalls } from '../calls/gateway-calls.ts';
import { errorText, messagesOf, parseMessage, RpcError, rpcErrors } from '../messages/json-rpc.ts';
import { OpenCalls } from '../relay/open-calls.ts';
import { Relay } from '../relay/relay.ts';
import type { Authorized } from './authorization.ts';
import { ClientResponse, EventStreamSplitter, eventBytes, eventStreamType } from './client-response.ts';
import { TokenExchangeError } from './token-exchange.ts';
import { respondJson, type Upstream } from './upstream.ts';

/** Maximum number of sessions to remember. */
const maxSessions = 10_000;

/** Session of an HTTP client with an HTTP server, over all of its exchanges. */
interface ProxySession {
  /** Id of the transport's session; undefined for an exchange without one. */
  readonly id: string | undefined;
  readonly open: OpenCalls;
  /** Subject to whose token the session belongs; undefined without authorization. */
  readonly owner: string | undefined;
  /** Name that the client gave itself. */
  clientName: string | undefined;
}

/** Sessions of a proxy, by the ids that the server gives them. */
export class ProxySessions {
  readonly #byId = new Map<string, ProxySession>();

  /** Returns the session with an id, or a new one for an exchange without an id. */
  get(id: string | undefined, owner?: string): ProxySession {
    const known = id === undefined ? undefined : this.#byId.get(id);
    if (known) return known;
    const session = { id, open: new OpenCalls(), owner, clientName: undefined };
    if (id !== undefined) this.#add(id, session);
    return session;
  }

  /** Gives the session of an `initialize` request the id of its response. */
  begin(id: string, { open, owner, clientName }: ProxySession): void {
    if (!this.#byId.has(id)) this.#add(id, { id, open, owner, clientName });
  }

  /** Returns `true` unless the session with an id belongs to the token of another subject. */
  belongs(id: string | undefined, owner: string | undefined): boolean {
    const session = id === undefined ? undefined : this.#byId.get(id);
    return session === undefined || session.owner === owner;
  }

  /** Forgets a session, and ends its calls. */
  end(id: string): void {
    const session = this.#byId.get(id);
    this.#byId.delete(id);
    const reason = new DOMException('The client ended the session.', 'AbortError');
    for (const call of session?.open.all() ?? []) call.cancel(reason);
  }

  /** Returns all sessions. */
  all(): ProxySession[] {
    return [...this.#byId.values()];
  }

  #add(id: string, session: ProxySession): void {
    this.#byId.set(id, session);
    const [oldest] = this.#byId.keys();
    if (this.#byId.size > maxSessions && oldest !== undefined) this.#byId.delete(oldest);
  }
}

type UpstreamResponse = Awaited<ReturnType<Upstream['send']>>;

/** Parts of an exchange. */
export interface ProxyExchangeOptions {
  readonly upstream: Upstream;
  readonly calls: GatewayCalls;
  readonly sessions: ProxySessions;
  readonly request: IncomingMessage;
  readonly response: ServerResponse;
  /** Caller whose token is verified; undefined without authorization. */
  readonly caller: Authorized | undefined;
}

/** One request of a client to an HTTP server, and its response. */
export class ProxyExchange {
  readonly #options: ProxyExchangeOptions;
  readonly #client: ClientResponse;
  readonly #gone = new AbortController();
  readonly #done = Promise.withResolvers<void>();
  /** Bytes of events, by their messages: an unchanged message is passed on in the very bytes. */
  readonly #blocks = new WeakMap<Buffer, Buffer>();
  /** `true` if the client can get what is missing of the response with another request. */
  #isResumable = false;
  #stopStarting = () => {};
  /** Sends a message to the client; how depends on the server's response. */
  #deliver = (line: Buffer): void => this.#deliverOwn(line);

  constructor(options: ProxyExchangeOptions) {
    this.#options = options;
    this.#client = new ClientResponse(options.request, options.response);
  }

  /** Runs the exchange, and resolves when it has ended and its calls are recorded. */
  async run(body: Buffer, session: ProxySession): Promise<void> {
    const { calls, request, response, caller } = this.#options;
    const { id: sessionId, clientName, open } = session;
    const ends = {
      toServer: (line: Buffer) => void this.#forward(line, relay, session),
      toClient: (line: Buffer) => this.#deliver(line),
      ask: (line: Buffer) => void this.#ask(line, relay),
      dropped: () => {
        this.#client.finish();
        this.#done.resolve();
      },
    };
    const canNotify = request.method === 'GET';
    const { agentId, principal } = caller ?? {};
    const known = { sessionId, clientName, open, canNotify, agentId, principal };
    const relay: Relay = new Relay(calls, ends, known);
    response.once('close', () => {
      if (!response.writableFinished) relay.clientGone();
      this.#gone.abort();
      this.#done.resolve();
    });
    // Only until the request is forwarded, because the server's headers are passed on unchanged.
    this.#stopStarting = this.#client.startStreamSoon();
    if (request.method === 'POST') relay.fromClient(body, request.headers.traceparent?.toString());
    // The gateway reads no other bodies, so that the server gets none.
    else void this.#forward(Buffer.alloc(0), relay, session);
    session.clientName = relay.clientName;
    await this.#done.promise;
    if (!this.#isResumable) await relay.close();
  }

  /** Sends a message of the gateway itself: nothing was forwarded. */
  #deliverOwn(line: Buffer): void {
    if ('method' in (JSON.parse(line.toString()) as object)) {
      this.#client.event(line);
      return;
    }
    this.#client.end(line);
    this.#done.resolve();
  }

  /** Sends a request of the gateway itself beside the client's, and passes the response to the relay. */
  async #ask(line: Buffer, relay: Relay): Promise<void> {
    const { request } = this.#options;
    const { 'mcp-name': _name, 'last-event-id': _last, ...headers } = forwardedHeaders(request.headers);
    const { id, method } = JSON.parse(line.toString()) as { readonly id: unknown; readonly method: string };
    const isResponse = (text = '') => messagesOf(parseMessage(text)).some((message) => message.id === id);
    let found: string | undefined;
    try {
      const received = await this.#send({
        method: 'POST',
        headers: { ...headers, ...(headers['mcp-method'] !== undefined && { 'mcp-method': method }) },
        body: line.subarray(0, -1),
      });
      const isStream = String(received.headers['content-type'] ?? '').startsWith(eventStreamType);
      const bytes = Buffer.from(await received.body.arrayBuffer());
      const messages = isStream
        ? new EventStreamSplitter().push(bytes).map(({ data }) => data)
        : [bytes.toString()];
      found = messages.find(isResponse);
    } catch {
      // The connection is lost: the gateway does without a response.
    }
    const problem = 'The MCP server did not respond.';
    relay.fromServer(Buffer.from(found ?? errorText(id, rpcErrors.connectionClosed, problem)));
  }

  async #forward(body: Buffer, relay: Relay, session: ProxySession): Promise<void> {
    const { sessions, request, response } = this.#options;
    this.#stopStarting();
    try {
      const received = await this.#send({
        method: request.method ?? 'GET',
        headers: forwardedHeaders(request.headers),
        body: body.length > 0 ? body : undefined,
      });
      const sessionId = received.headers['mcp-session-id'];
      if (typeof sessionId === 'string')
        sessions.begin(sessionId, { ...session, clientName: relay.clientName });
      await this.#receive(received, relay);
      await relay.recorded();
      if (received.statusCode >= 400) await relay.fail(rejection(received.statusCode));
      else if (!this.#isResumable)
        await relay.serverGone('The MCP server closed the stream before it responded');
      response.end();
    } catch (error) {
      // The connection is lost: there is no response, or only a part of it.
      if (!this.#gone.signal.aborted) await this.#fail(relay, error);
    }
    this.#done.resolve();
  }

  /**
   * Sends a request to the server. With authorization, it has the server's token for the caller, or none: the token for the
   * gateway is not passed on.
   *
   * @throws TokenExchangeError when there is no token for the caller; UpstreamRefusal when the server accepts none
   */
  async #send(options: Omit<Parameters<Upstream['send']>[0], 'signal'>): Promise<UpstreamResponse> {
    const { upstream, caller } = this.#options;
    const { signal } = this.#gone;
    if (!caller) return upstream.send({ ...options, signal });
    const { exchange } = caller.authorization;
    const { authorization: _token, ...headers } = options.headers;
    for (let attempt = 1; ; attempt += 1) {
      const token = await exchange?.tokenFor(caller.token);
      const own = token === undefined ? {} : { authorization: `Bearer ${token}` };
      const received = await upstream.send({ ...options, headers: { ...headers, ...own }, signal });
      if (received.statusCode !== 401 && received.statusCode !== 403) return received;
      await received.body.dump();
      exchange?.forget(caller.token);
      // Its challenge names another authorization server, which is not the client's.
      if (attempt > 1 || !exchange || received.statusCode === 403) {
        throw new UpstreamRefusal(received.statusCode);
      }
    }
  }

  async #receive(received: UpstreamResponse, relay: Relay): Promise<void> {
    const { response } = this.#options;
    const { statusCode, headers, body } = received;
    const type = String(headers['content-type'] ?? '');
    const start = () => {
      if (!this.#client.isStarted) response.writeHead(statusCode, forwardedHeaders(headers));
    };
    if (type.startsWith(eventStreamType)) {
      start();
      response.flushHeaders();
      this.#deliver = (line) => {
        response.write(this.#blocks.get(line) ?? eventBytes(line));
      };
      await this.#receiveStream(body, relay);
      return;
    }
    const bytes = Buffer.from(await body.arrayBuffer());
    this.#deliver = (line) => {
      start();
      response.write(this.#client.isStream ? eventBytes(line) : line);
    };
    if (type.startsWith('application/json') && bytes.length > 0) relay.fromServer(bytes);
    else if (bytes.length > 0) this.#deliver(bytes);
    else start();
  }

  async #receiveStream(body: UpstreamResponse['body'], relay: Relay): Promise<void> {
    const { response } = this.#options;
    const splitter = new EventStreamSplitter();
    for await (const chunk of body) {
      for (const { raw, data, id } of splitter.push(chunk as Buffer)) {
        if (id !== undefined) this.#isResumable = true;
        const message = data === undefined ? raw : Buffer.from(data);
        this.#blocks.set(message, raw);
        relay.fromServer(message);
      }
      if (response.writableNeedDrain) await once(response, 'drain', { signal: this.#gone.signal });
    }
    response.write(splitter.end());
  }

  async #fail(relay: Relay, error: unknown): Promise<void> {
    const { response } = this.#options;
    const isRefusal = error instanceof UpstreamRefusal || error instanceof TokenExchangeError;
    const problem = isRefusal ? error.message.replace(/\.$/, '') : 'The MCP server could not be reached';
    if (this.#client.isStarted && !this.#client.isStream) {
      response.destroy();
      return;
    }
    await relay.serverGone(problem);
    if (this.#client.isStarted) response.end();
    else {
      const isDenied = error instanceof TokenExchangeError && error.isRefusal;
      respondJson(response, isDenied ? 403 : 502, `${problem}.`);
    }
  }
}

/** Error thrown when the server does not accept the gateway's token for a caller, or no token. */
class UpstreamRefusal extends Error {
  constructor(status: number) {
    super(`The MCP server did not accept the request of the gateway (HTTP ${status}).`);
  }
}

/** Creates an error with the status in the words of the SDKs, which the recorder parses. */
function rejection(status: number): RpcError {
  return new RpcError(undefined, `Error POSTing to endpoint (HTTP ${status})`);
}

/** Headers that belong to one connection (RFC 9110, section 7.6.1) or to one message. */
const connectionHeaders: ReadonlySet<string> = new Set([
  'accept-encoding',
  'connection',
  'content-length',
  'expect',
  'host',
  'keep-alive',
  'proxy-authenticate',
  'proxy-authorization',
  'te',
  'trailer',
  'transfer-encoding',
  'upgrade',
]);

/** Headers by which some servers take a request for one of another method. */
const methodHeaders: ReadonlySet<string> = new Set([
  'x-http-method',
  'x-http-method-override',
  'x-method-override',
]);

/** Returns the headers that a proxy passes on. */
function forwardedHeaders(headers: IncomingHttpHeaders): Record<string, string | string[]> {
  const forwarded: Record<string, string | string[]> = {};
  for (const [name, value] of Object.entries(headers)) {
    const isDropped = connectionHeaders.has(name.toLowerCase()) || methodHeaders.has(name.toLowerCase());
    if (value !== undefined && !isDropped) forwarded[name] = value;
  }
  return forwarded;
}
