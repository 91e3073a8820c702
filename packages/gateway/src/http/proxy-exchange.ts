import { once } from 'node:events';
import type { IncomingHttpHeaders, IncomingMessage, ServerResponse } from 'node:http';
import type { GatewayCalls } from '../calls/gateway-calls.ts';
import { errorText, messagesOf, parseMessage, RpcError, rpcErrors } from '../messages/json-rpc.ts';
import { OpenCalls } from '../relay/open-calls.ts';
import { Relay } from '../relay/relay.ts';
import { ClientResponse, EventStreamSplitter, eventBytes, eventStreamType } from './client-response.ts';
import { respondJson, type Upstream } from './upstream.ts';

/** Maximum number of sessions to remember. */
const maxSessions = 10_000;

/** Session of an HTTP client with an HTTP server, over all of its exchanges. */
interface ProxySession {
  /** Id of the transport's session; undefined for an exchange without one. */
  readonly id: string | undefined;
  readonly open: OpenCalls;
  /** Name that the client gave itself. */
  clientName: string | undefined;
}

/** Sessions of a proxy, by the ids that the server gives them. */
export class ProxySessions {
  readonly #byId = new Map<string, ProxySession>();

  /** Returns the session with an id, or a new one for an exchange without an id. */
  get(id: string | undefined): ProxySession {
    const known = id === undefined ? undefined : this.#byId.get(id);
    if (known) return known;
    const session = { id, open: new OpenCalls(), clientName: undefined };
    if (id !== undefined) this.#add(id, session);
    return session;
  }

  /** Gives the session of an `initialize` request the id of its response. */
  begin(id: string, { open, clientName }: ProxySession): void {
    if (!this.#byId.has(id)) this.#add(id, { id, open, clientName });
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
    const { calls, request, response } = this.#options;
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
    const relay: Relay = new Relay(calls, ends, { sessionId, clientName, open, canNotify });
    response.once('close', () => {
      if (!response.writableFinished) relay.clientGone();
      this.#gone.abort();
      this.#done.resolve();
    });
    // Only until the request is forwarded, because the server's headers are passed on unchanged.
    this.#stopStarting = this.#client.startStreamSoon();
    if (request.method === 'POST') relay.fromClient(body);
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

  /** Sends a request of the gateway itself beside that of the client, and passes the response to the relay. */
  async #ask(line: Buffer, relay: Relay): Promise<void> {
    const { upstream, request } = this.#options;
    const { 'mcp-name': _name, 'last-event-id': _last, ...headers } = forwardedHeaders(request.headers);
    const { id, method } = JSON.parse(line.toString()) as { readonly id: unknown; readonly method: string };
    const isResponse = (text = '') => messagesOf(parseMessage(text)).some((message) => message.id === id);
    let found: string | undefined;
    try {
      const received = await upstream.send({
        method: 'POST',
        headers: { ...headers, ...(headers['mcp-method'] !== undefined && { 'mcp-method': method }) },
        body: line.subarray(0, -1),
        signal: this.#gone.signal,
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
    const { upstream, sessions, request, response } = this.#options;
    this.#stopStarting();
    try {
      const received = await upstream.send({
        method: request.method ?? 'GET',
        headers: forwardedHeaders(request.headers),
        body: body.length > 0 ? body : undefined,
        signal: this.#gone.signal,
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
    } catch {
      // The connection is lost: there is no response, or only a part of it.
      if (!this.#gone.signal.aborted) await this.#fail(relay);
    }
    this.#done.resolve();
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

  async #fail(relay: Relay): Promise<void> {
    const { response } = this.#options;
    const problem = 'The MCP server could not be reached';
    if (this.#client.isStarted && !this.#client.isStream) {
      response.destroy();
      return;
    }
    await relay.serverGone(problem);
    if (this.#client.isStarted) response.end();
    else respondJson(response, 502, `${problem}.`);
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
