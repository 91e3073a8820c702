import { once } from 'node:events';
import { createServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import type { GatewayCalls } from '../calls/gateway-calls.ts';
import { messagesOf, parseMessage } from '../messages/json-rpc.ts';
import type { ChildServerOptions, SignalSource } from '../stdio/child-server.ts';
import type { Authorization, Authorized } from './authorization.ts';
import { ChildSessions } from './child-sessions.ts';
import { ProxyExchange, ProxySessions } from './proxy-exchange.ts';
import { readBody } from './read-body.ts';
import { repeatsMessage, respondJson, Upstream } from './upstream.ts';

/** Options of {@link runHttpGateway}. */
export interface HttpGatewayOptions {
  readonly host: string;
  readonly port: number;
  /** Server that clients are connected with: an address, or the command for a process of each session. */
  readonly server: Upstream | ChildServerOptions;
  readonly calls: GatewayCalls;
  readonly signals: SignalSource;
  /** Creates the authorization for the address of the gateway. Default: all clients are accepted. */
  readonly authorize?: ((address: URL) => Authorization) | undefined;
  /** Called with the address for clients. */
  listening(url: string): void;
}

/**
 * Listens for clients that are connected by Streamable HTTP. Resolves when a signal ends the gateway, and all calls are
 * recorded.
 *
 * @throws Error when the port is taken
 */
export async function runHttpGateway(options: HttpGatewayOptions): Promise<NodeJS.Signals> {
  const { host, port, server, calls, signals } = options;
  const isUpstream = server instanceof Upstream;
  const sessions = isUpstream ? new HttpProxy(server, calls) : new ChildSessions(server, calls);
  const gate: { authorization?: Authorization } = {};
  const listener = await Listener.start(host, port, gate, (request, response, caller) =>
    sessions.handle(request, response, caller),
  );
  const path = isUpstream ? `${server.url.pathname}${server.url.search}` : '/mcp';
  try {
    if (options.authorize) gate.authorization = options.authorize(new URL(`${listener.origin}${path}`));
  } catch (error) {
    await listener.close();
    throw error;
  }
  const ended = Promise.withResolvers<NodeJS.Signals>();
  const stopListening = signals.listen((signal) => ended.resolve(signal));
  options.listening(`${listener.origin}${path}`);
  const signal = await ended.promise;
  await listener.close();
  await sessions.close();
  if (isUpstream) await server.close();
  stopListening();
  return signal;
}

/**
 * Passes the requests of HTTP clients to an HTTP server, and the responses back, with their headers and bytes. Only a
 * request with a tool call waits for its decision.
 */
class HttpProxy {
  readonly #upstream: Upstream;
  readonly #calls: GatewayCalls;
  readonly #sessions = new ProxySessions();

  constructor(upstream: Upstream, calls: GatewayCalls) {
    this.#upstream = upstream;
    this.#calls = calls;
  }

  /** Handles one request. */
  async handle(request: IncomingMessage, response: ServerResponse, caller?: Authorized): Promise<void> {
    const target = problemOfTarget(request, this.#upstream.url);
    const body = await readBody(request);
    if (target) {
      respondJson(response, target.status, target.message, target.headers);
      return;
    }
    if (body === undefined) {
      respondJson(response, 413, 'The message is larger than 64 MiB.');
      return;
    }
    const problem =
      request.method === 'POST' && this.#calls.isGuarding ? problemOfMessage(request, body) : undefined;
    if (problem) {
      respondJson(response, problem.status, problem.message);
      return;
    }
    if (caller && !caller.authorization.admits(request, response, body)) return;
    const header = request.headers['mcp-session-id'];
    const id = Array.isArray(header) ? header[0] : header;
    if (!this.#sessions.belongs(id, caller?.owner)) {
      respondJson(response, 404, 'The session does not exist, or has ended.');
      return;
    }
    if (request.method === 'DELETE' && id !== undefined) this.#sessions.end(id);
    const sessions = this.#sessions;
    const exchange = new ProxyExchange({
      upstream: this.#upstream,
      calls: this.#calls,
      sessions,
      request,
      response,
      caller,
    });
    await exchange.run(body, sessions.get(id, caller?.owner));
  }

  /** Ends all calls, and resolves when they are recorded. */
  async close(): Promise<void> {
    for (const { id, open } of this.#sessions.all()) {
      if (id !== undefined) this.#sessions.end(id);
      await open.recorded();
    }
  }
}

/** Reason why a request does not reach the server, with the response to it. */
interface RequestProblem {
  readonly status: number;
  readonly message: string;
  readonly headers?: Readonly<Record<string, string>>;
}

/** Methods of Streamable HTTP. */
const methods: readonly unknown[] = ['POST', 'GET', 'DELETE'];

/** The only content types that every server decodes as the gateway does. */
const jsonInUtf8 = /^application\/json(?:\s*;\s*charset\s*=\s*"?utf-?8"?)?\s*$/i;

/**
 * Returns the problem of a request that the gateway does not read, and which would reach the server with the operator's
 * headers: one to another address than the server's, or with another method. Undefined if there is none.
 *
 * @param url - address of the server
 */
function problemOfTarget({ method, url }: IncomingMessage, server: URL): RequestProblem | undefined {
  const path = `${server.pathname}${server.search}`;
  if (url !== path) return { status: 404, message: `The gateway passes on requests to ${path} only.` };
  if (methods.includes(method)) return undefined;
  const allowed = methods.join(', ');
  return { status: 405, message: `The method must be ${allowed}.`, headers: { allow: allowed } };
}

/**
 * Returns the problem of a message that a server may read in another way than the gateway, because of its headers: another
 * character set or content coding, or headers that repeat parts of a message and name others. Undefined if there is none.
 */
function problemOfMessage({ headers }: IncomingMessage, body: Buffer): RequestProblem | undefined {
  const { 'content-type': type = '', 'content-encoding': coding = 'identity' } = headers;
  if (!jsonInUtf8.test(type)) {
    return { status: 415, message: 'The content type must be application/json, in UTF-8.' };
  }
  if (coding.trim().toLowerCase() !== 'identity') {
    return { status: 415, message: 'The body must have no content coding.' };
  }
  if (repeatsMessage(headers, messagesOf(parseMessage(body.toString())))) return undefined;
  return { status: 400, message: 'The headers Mcp-Method and Mcp-Name must name what the message names.' };
}

/** Handles one request. */
type Handler = (request: IncomingMessage, response: ServerResponse, caller?: Authorized) => Promise<void>;

/** Listener for clients that are connected by Streamable HTTP. */
class Listener {
  /** Address of the listener, without a path. */
  readonly origin: string;
  readonly #server: Server;

  private constructor(server: Server, origin: string) {
    this.#server = server;
    this.origin = origin;
  }

  /**
   * Starts listening.
   *
   * @param port - 0 takes a free one
   * @param gate - authorization in front of the handler, which is created when the address is known
   * @throws Error when the port is taken, or the address is not one of this machine
   */
  static async start(
    host: string,
    port: number,
    gate: { readonly authorization?: Authorization },
    handle: Handler,
  ): Promise<Listener> {
    const isLoopback = ['127.0.0.1', '::1', 'localhost'].includes(host);
    const server = createServer({ requestTimeout: 0 }, (request, response) => {
      const { authorization } = gate;
      const problem = originProblem(request, isLoopback, authorization?.origin);
      if (problem !== undefined) respondJson(response, 403, problem);
      else handleFor(request, response, authorization, handle).catch(() => response.destroy());
    });
    server.listen(port, host);
    try {
      await once(server, 'listening');
    } catch (error) {
      const { code } = error as NodeJS.ErrnoException;
      throw new Error(
        `The gateway cannot listen on ${host}:${port} (${code}): choose another --listen or --host.`,
      );
    }
    const { address, family, port: actual } = server.address() as AddressInfo;
    return new Listener(server, `http://${family === 'IPv6' ? `[${address}]` : address}:${actual}`);
  }

  /** Stops listening, and closes all connections. */
  async close(): Promise<void> {
    const closed = once(this.#server, 'close');
    this.#server.close();
    this.#server.closeAllConnections();
    await closed;
  }
}

/** Handles a request once its token is verified. */
async function handleFor(
  request: IncomingMessage,
  response: ServerResponse,
  authorization: Authorization | undefined,
  handle: Handler,
): Promise<void> {
  if (!authorization) return handle(request, response);
  if (authorization.serveMetadata(request, response)) return;
  const caller = await authorization.caller(request, response);
  if (caller) await handle(request, response, { ...caller, authorization });
}

const loopbackNames: ReadonlySet<string> = new Set(['localhost', '127.0.0.1', '[::1]']);

/**
 * Returns the problem of a request that a web page may have sent to a listener on this machine; undefined if there is
 * none (Model Context Protocol, "Transports", "Security Warning": DNS rebinding).
 *
 * @param isLoopback - `true` if the gateway listens on this machine only
 * @param own - origin of the gateway for clients, if it is configured
 */
function originProblem(
  { headers }: IncomingMessage,
  isLoopback: boolean,
  own: string | undefined,
): string | undefined {
  const { origin, host } = headers;
  if (origin !== undefined && origin !== own && !isNamed(origin)) {
    return 'requests of web pages are not accepted';
  }
  const isOwn = own !== undefined && URL.parse(`http://${host}`)?.hostname === new URL(own).hostname;
  if (isLoopback && !isOwn && !isNamed(`http://${host}`)) return 'the header Host must name this machine';
  return undefined;
}

function isNamed(origin: string): boolean {
  return URL.canParse(origin) && loopbackNames.has(new URL(origin).hostname);
}
