import type { IncomingMessage, ServerResponse } from 'node:http';
import type { GatewayCalls } from '../calls/gateway-calls.ts';
import { ProxyExchange } from './proxy-exchange.ts';
import { ProxySessions } from './proxy-sessions.ts';
import { readBody } from './read-body.ts';
import { problemOfMessage, problemOfTarget } from './request-problem.ts';
import { respondJson } from './respond-json.ts';
import type { Upstream } from './upstream.ts';

/**
 * Passes the requests of HTTP clients to an HTTP server, and the responses back, with their headers and bytes. Only a
 * request with a tool call waits for its decision.
 */
export class HttpProxy {
  readonly #upstream: Upstream;
  readonly #calls: GatewayCalls;
  readonly #sessions = new ProxySessions();

  constructor(upstream: Upstream, calls: GatewayCalls) {
    this.#upstream = upstream;
    this.#calls = calls;
  }

  /** Handles one request. */
  async handle(request: IncomingMessage, response: ServerResponse): Promise<void> {
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
    const header = request.headers['mcp-session-id'];
    const id = Array.isArray(header) ? header[0] : header;
    if (request.method === 'DELETE' && id !== undefined) this.#sessions.end(id);
    const sessions = this.#sessions;
    const exchange = new ProxyExchange({
      upstream: this.#upstream,
      calls: this.#calls,
      sessions,
      request,
      response,
    });
    await exchange.run(body, sessions.get(id));
  }

  /** Ends all calls, and resolves when they are recorded. */
  async close(): Promise<void> {
    for (const { id, open } of this.#sessions.all()) {
      if (id !== undefined) this.#sessions.end(id);
      await open.recorded();
    }
  }
}
