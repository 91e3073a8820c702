import { randomUUID } from 'node:crypto';
import type { IncomingMessage, ServerResponse } from 'node:http';
import { parseExactJson } from '@actlog/recorder/adapter';
import type { GatewayCalls } from '../calls/gateway-calls.ts';
import { progressTokenOf } from '../calls/open-call.ts';
import {
  errorText,
  isResponse,
  keyOfId,
  messagesOf,
  parseMessage,
  type RpcMessage,
  rpcErrors,
} from '../messages/json-rpc.ts';
import { Relay } from '../relay/relay.ts';
import { ChildServer, type ChildServerOptions, pump } from '../stdio/child-server.ts';
import type { Authorized } from './authorization.ts';
import { ClientResponse } from './client-response.ts';
import { readBody } from './read-body.ts';
import { respondJson } from './upstream.ts';

const sessionHeader = 'mcp-session-id';

/** Sessions of HTTP clients, each with a separate server that is connected by stdio. */
export class ChildSessions {
  readonly #options: ChildServerOptions;
  readonly #calls: GatewayCalls;
  readonly #byId = new Map<string, ChildSession>();

  constructor(options: ChildServerOptions, calls: GatewayCalls) {
    this.#options = options;
    this.#calls = calls;
  }

  /** Handles one request (Model Context Protocol, "Streamable HTTP"). */
  async handle(request: IncomingMessage, response: ServerResponse, caller?: Authorized): Promise<void> {
    const body = await readBody(request);
    const header = request.headers[sessionHeader];
    const id = Array.isArray(header) ? header[0] : header;
    const found = id === undefined ? undefined : this.#byId.get(id);
    const session = found?.owner === caller?.owner ? found : undefined;
    if (body === undefined) respondJson(response, 413, 'The message is larger than 64 MiB.');
    else if (id !== undefined && !session)
      respondJson(response, 404, 'The session does not exist, or has ended.');
    else if (caller && !caller.authorization.admits(request, response, body)) return;
    else if (request.method === 'POST') await this.#post(request, response, body, session, caller);
    else if (!session)
      respondJson(response, 400, `The header ${sessionHeader} is missing: send initialize first.`);
    else if (request.method === 'GET') session.listen(new ClientResponse(request, response));
    else if (request.method === 'DELETE') await this.#delete(session, response);
    else respondJson(response, 405, 'The method must be POST, GET or DELETE.');
  }

  /** Ends all sessions, and resolves when their calls are recorded. */
  async close(): Promise<void> {
    await Promise.all([...this.#byId.values()].map((session) => session.stop()));
  }

  async #post(
    request: IncomingMessage,
    response: ServerResponse,
    body: Buffer,
    known: ChildSession | undefined,
    caller: Authorized | undefined,
  ): Promise<void> {
    let messages: ReturnType<typeof messagesOf>;
    try {
      messages = messagesOf(parseExactJson(body.toString()));
    } catch {
      response.writeHead(400, { 'content-type': 'application/json' });
      response.end(errorText(null, rpcErrors.parseError, 'The body is not JSON.'));
      return;
    }
    const traceparent = request.headers.traceparent?.toString();
    if (known) {
      known.post(body, messages, new ClientResponse(request, response), traceparent);
    } else if (messages.some(({ method }) => method === 'initialize')) {
      const session = await this.#start(response, caller);
      if (!session) return;
      const client = new ClientResponse(request, response, { [sessionHeader]: session.id });
      session.post(body, messages, client, traceparent);
    } else {
      respondJson(response, 400, `The header ${sessionHeader} is missing: send initialize first.`);
    }
  }

  async #start(response: ServerResponse, caller?: Authorized): Promise<ChildSession | undefined> {
    try {
      const session = await ChildSession.start(this.#options, this.#calls, caller);
      this.#byId.set(session.id, session);
      void session.ended.then(() => this.#byId.delete(session.id));
      return session;
    } catch (error) {
      respondJson(response, 502, (error as Error).message);
      return undefined;
    }
  }

  async #delete(session: ChildSession, response: ServerResponse): Promise<void> {
    this.#byId.delete(session.id);
    await session.stop();
    response.writeHead(200);
    response.end();
  }
}

/** Maximum number of messages that wait for a stream. */
const maxWaiting = 1000;

/** A request of the client whose response is not complete. */
interface OpenRequest {
  readonly client: ClientResponse;
  /** Keys of the ids of its requests without a response. */
  readonly ids: Set<string>;
  /** Keys of the progress tokens. */
  readonly progressTokens: ReadonlySet<string>;
}

/** Session of an HTTP client with a separate server, which is connected by stdio. */
class ChildSession {
  readonly id = randomUUID();
  /** Resolves when the server has ended and its calls are recorded. */
  readonly ended: Promise<void>;
  /** Subject to whose token the session belongs; undefined without authorization. */
  readonly owner: string | undefined;
  readonly #server: ChildServer;
  readonly #relay: Relay;
  /** Newest last. */
  readonly #requests = new Set<OpenRequest>();
  /** Stream for messages that belong to no request. */
  #stream: ClientResponse | undefined;
  #waiting: Buffer[] = [];

  private constructor(server: ChildServer, calls: GatewayCalls, caller: Authorized | undefined) {
    this.owner = caller?.owner;
    this.#server = server;
    this.#relay = new Relay(
      calls,
      {
        toServer: (line) => server.stdin.write(singleLine(line)),
        toClient: (line) => this.#toClient(line),
      },
      { sessionId: this.id, agentId: caller?.agentId, principal: caller?.principal },
    );
    const received = pump(server.stdout, undefined, (line) => this.#relay.fromServer(line));
    this.ended = this.#end(received);
  }

  /**
   * Starts the server of a session.
   *
   * @throws Error when its command cannot be started
   */
  static async start(
    options: ChildServerOptions,
    calls: GatewayCalls,
    caller?: Authorized,
  ): Promise<ChildSession> {
    return new ChildSession(await ChildServer.start(options), calls, caller);
  }

  /** Takes the body of a request. */
  post(
    body: Buffer,
    messages: readonly RpcMessage[],
    client: ClientResponse,
    traceparent: string | undefined,
  ): void {
    const requests = messages.filter(({ id, method }) => id !== undefined && method !== undefined);
    if (requests.length > 0) {
      const ids = new Set(requests.map(({ id }) => keyOfId(id)));
      const progressTokens = new Set(requests.flatMap(({ params }) => keysOf(progressTokenOf(params))));
      const request = { client, ids, progressTokens };
      this.#requests.add(request);
      client.startStreamSoon();
      client.onClose(() => {
        this.#requests.delete(request);
        // Nobody would get the response.
        this.#relay.cancelWaiting((id) => ids.has(keyOfId(id)));
      });
    }
    this.#relay.fromClient(body, traceparent);
    if (requests.length === 0) client.finish();
  }

  /** Opens the stream for messages that belong to no request. */
  listen(client: ClientResponse): void {
    client.startStream();
    this.#stream = client;
    client.onClose(() => {
      if (this.#stream === client) this.#stream = undefined;
    });
    for (const message of this.#waiting.splice(0)) client.event(message);
  }

  /** Ends the session: the client has ended it, or the gateway ends. */
  async stop(): Promise<void> {
    this.#relay.clientGone();
    await this.#server.stop();
    await this.ended;
  }

  async #end(received: Promise<void>): Promise<void> {
    const { code, signal } = await this.#server.exit;
    await received;
    await this.#relay.serverGone(
      `The MCP server ended with ${signal ? `signal ${signal}` : `exit code ${code}`}`,
    );
    for (const { client } of this.#requests) client.finish(502);
    this.#stream?.finish();
  }

  #toClient(line: Buffer): void {
    const messages = messagesOf(parseMessage(line.toString()));
    const responses = messages.filter(isResponse).map(({ id }) => keyOfId(id));
    if (responses.length === 0) {
      this.#sendUnrequested(line, messages);
      return;
    }
    const request = [...this.#requests].find(({ ids }) => responses.some((id) => ids.has(id)));
    if (!request) return; // its client is gone
    for (const id of responses) request.ids.delete(id);
    if (request.ids.size > 0) {
      request.client.event(line);
      return;
    }
    this.#requests.delete(request);
    request.client.end(line);
  }

  /**
   * Sends a notification or a request of the server. A server that is connected by stdio does not say which request it
   * belongs to; only progress does.
   */
  #sendUnrequested(line: Buffer, [message]: readonly RpcMessage[]): void {
    const { progressToken } = (message?.params ?? {}) as { readonly progressToken?: unknown };
    const all = [...this.#requests];
    const target =
      all.find(({ progressTokens }) => progressTokens.has(keyOfId(progressToken)))?.client ??
      this.#stream ??
      all.findLast(({ client }) => client.acceptsStream)?.client;
    if (target) target.event(line);
    else this.#waiting = [...this.#waiting, line].slice(-maxWaiting);
  }
}

function keysOf(token: unknown): string[] {
  return token === undefined ? [] : [keyOfId(token)];
}

/** Returns a message on one line: line endings are between its tokens. */
function singleLine(message: Buffer): Buffer {
  return Buffer.from(
    `${message
      .toString()
      .trimEnd()
      .replaceAll(/[\r\n]+/g, ' ')}\n`,
  );
}
