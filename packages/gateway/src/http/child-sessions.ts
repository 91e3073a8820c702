import type { IncomingMessage, ServerResponse } from 'node:http';
import { parseExactJson } from '@actlog/recorder/adapter';
import type { GatewayCalls } from '../calls/gateway-calls.ts';
import { errorText, messagesOf, rpcErrors } from '../messages/json-rpc.ts';
import type { ChildServerOptions } from '../stdio/child-server.ts';
import { ChildSession } from './child-session.ts';
import { ClientResponse } from './client-response.ts';
import { readBody } from './read-body.ts';
import { respondJson } from './respond-json.ts';

const sessionHeader = 'mcp-session-id';

/** Sessions of HTTP clients, each with a server of its own that is connected by stdio. */
export class ChildSessions {
  readonly #options: ChildServerOptions;
  readonly #calls: GatewayCalls;
  readonly #byId = new Map<string, ChildSession>();

  constructor(options: ChildServerOptions, calls: GatewayCalls) {
    this.#options = options;
    this.#calls = calls;
  }

  /** Handles one request (Model Context Protocol, "Streamable HTTP"). */
  async handle(request: IncomingMessage, response: ServerResponse): Promise<void> {
    const body = await readBody(request);
    const header = request.headers[sessionHeader];
    const id = Array.isArray(header) ? header[0] : header;
    const session = id === undefined ? undefined : this.#byId.get(id);
    if (body === undefined) respondJson(response, 413, 'The message is larger than 64 MiB.');
    else if (id !== undefined && !session)
      respondJson(response, 404, 'The session does not exist, or has ended.');
    else if (request.method === 'POST') await this.#post(request, response, body, session);
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
  ): Promise<void> {
    let messages: ReturnType<typeof messagesOf>;
    try {
      messages = messagesOf(parseExactJson(body.toString()));
    } catch {
      response.writeHead(400, { 'content-type': 'application/json' });
      response.end(errorText(null, rpcErrors.parseError, 'The body is not JSON.'));
      return;
    }
    if (known) {
      known.post(body, messages, new ClientResponse(request, response));
    } else if (messages.some(({ method }) => method === 'initialize')) {
      const session = await this.#start(response);
      session?.post(body, messages, new ClientResponse(request, response, { [sessionHeader]: session.id }));
    } else {
      respondJson(response, 400, `The header ${sessionHeader} is missing: send initialize first.`);
    }
  }

  async #start(response: ServerResponse): Promise<ChildSession | undefined> {
    try {
      const session = await ChildSession.start(this.#options, this.#calls);
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
