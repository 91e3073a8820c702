import { createServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { text } from 'node:stream/consumers';
import { NestedTenant } from './nested-tenant.ts';
import { isJson, type Json, parsedBody, Refusal, requiredText } from './refusal.ts';
import { routesOf, routeTo } from './routes.ts';

/** Status and body of a response; undefined for no body. */
type Reply = readonly [status: number, body?: unknown];

/** An authenticated request. */
interface Visit {
  readonly tenant: NestedTenant;
  readonly id: string;
  readonly query: URLSearchParams;
  /** The body as JSON. */
  readonly sent: () => Json;
}

/** Every so many requests, one is over the rate. */
const requestsPerRefusal = 9;

/** Returns a page whose items are an array within an object. The last page may be empty. */
function paged(all: readonly unknown[], query: URLSearchParams): Reply {
  const limit = Math.min(Number(query.get('limit')) || 4, 4);
  const start = Number((query.get('cursor') ?? 'at:0').slice(3));
  const end = start + limit;
  return [
    200,
    { page: { rows: all.slice(start, end) }, nextCursor: start < all.length ? `at:${end}` : null },
  ];
}

/** Returns an event under other names, with its time as a number. */
function entryOf({ sourceTimestamp, category, schemaVersion, payload }: Json): Json {
  const { toolName, argumentsHash, responseStatus } = isJson(payload) ? payload : {};
  return {
    when: Date.parse(String(sourceTimestamp)),
    what: { kind: category, schema: schemaVersion },
    call: { tool: toolName, digest: argumentsHash, outcome: responseStatus },
  };
}

/** Returns the events of a session by their ids, and each of its agents once. */
function sessionOf(key: string, events: readonly Json[]): Json {
  const entries = Object.fromEntries(events.map((event) => [String(event.eventId), entryOf(event)]));
  const agents = [...new Set(events.map(({ agentId }) => Number(agentId)))];
  return { about: { key, agent: agents.length === 1 ? agents[0] : agents }, entries };
}

function riskOf(events: readonly Json[]): Json {
  const names = Array.from({ length: 10 }, (_, index) => `axis-${index}`);
  const axes = Object.fromEntries(names.map((name, index) => [name, index / 10]));
  return {
    verdict: { grade: 0.4, of: `${events.length} events`, because: ['it was quiet'], next: ['wait and see'] },
    axes,
  };
}

const handlers: Readonly<Record<string, (visit: Visit) => Reply>> = {
  'POST /v1/events': ({ tenant, sent }) => {
    const event = sent();
    tenant.record(event);
    return [202, { eventId: event.eventId, receivedAt: new Date().toISOString(), warnings: ['be careful'] }];
  },
  'GET /v1/sessions': ({ tenant, query }) => paged(tenant.sessions(), query),
  'GET /v1/sessions/:id': ({ tenant, id }) => [200, sessionOf(id, tenant.events(id))],
  'GET /v1/sessions/:id/risk': ({ tenant, id }) => [200, riskOf(tenant.events(id))],
  'GET /v1/sessions/:id/export.json': ({ tenant, id }) => [200, [sessionOf(id, tenant.events(id))]],
  'POST /v1/agents': ({ tenant, sent }) => {
    const label = requiredText(sent(), 'label');
    const number = tenant.add('agents', (no) => ({ agent: { no, revision: 1, label } }));
    return [201, { receipt: { agent: number } }];
  },
  'GET /v1/agents': ({ tenant, query }) => paged(tenant.all('agents'), query),
  'GET /v1/agents/:id': ({ tenant, id }) => [200, tenant.get('agents', id)],
  'PATCH /v1/agents/:id': ({ tenant, id, sent }) => {
    const { agent } = tenant.get('agents', id) as { agent: Json };
    Object.assign(agent, { label: requiredText(sent(), 'label'), revision: Number(agent.revision) + 1 });
    return [202, { queued: true }];
  },
  'GET /v1/agents/:id/sessions': ({ tenant, id, query }) => paged(tenant.sessions(id), query),
  'POST /v1/policies': ({ tenant, sent }) => {
    const { pause = null } = sent();
    const words = requiredText(sent(), 'words');
    tenant.add('rules', (number) => ({ rule: { number, words, pause, mode: 'on' } }));
    return [204];
  },
  'GET /v1/policies': ({ tenant, query }) => paged(tenant.all('rules'), query),
  'GET /v1/policies/:id': ({ tenant, id }) => [200, tenant.get('rules', id)],
  'PATCH /v1/policies/:id': ({ tenant, id, sent }) => {
    Object.assign((tenant.get('rules', id) as { rule: Json }).rule, { words: requiredText(sent(), 'words') });
    return [200, tenant.get('rules', id)];
  },
  'DELETE /v1/policies/:id': ({ tenant, id }) => {
    Object.assign((tenant.get('rules', id) as { rule: Json }).rule, { mode: 'off' });
    return [204];
  },
  'POST /v1/policies/check': ({ tenant, sent }) => [200, tenant.check(sent())],
  'GET /v1/guardian/pending-actions': ({ tenant, query }) => paged(tenant.all('holds'), query),
  'POST /v1/guardian/pending-actions/:id/decide': ({ tenant, id, sent }) => {
    const hold = tenant.get('holds', id);
    if (typeof sent().yes !== 'boolean') throw new Refusal(400, 'VALIDATION_ERROR', 'yes is needed.');
    hold.life_state = 'settled';
    return [200, { done: true }];
  },
  'POST /v1/notification-channels': ({ tenant, sent }) => {
    const to = requiredText(sent(), 'to');
    return [201, { hook: { number: tenant.add('hooks', (number) => ({ hook: { number, to } })) } }];
  },
  'GET /v1/notification-channels': ({ tenant, query }) => paged(tenant.all('hooks'), query),
};

const routes = routesOf(handlers);

/**
 * A service that conforms to the specification and is hard on its callers: identifiers are numbers, records and pages
 * are nested, creations return little or nothing, agents must be registered, every record appears late, and every
 * ninth request is over the rate, with `Retry-After` as an HTTP date.
 */
export class NestedServer {
  readonly #tenants: ReadonlyMap<string, NestedTenant>;
  readonly #server: Server;
  #count = 0;

  private constructor(keys: readonly string[]) {
    this.#tenants = new Map(keys.map((key) => [key, new NestedTenant(() => this.#count)]));
    this.#server = createServer((request, response) => void this.#handle(request, response));
  }

  /** Starts a service with a tenant for each key. */
  static async start(keys: readonly string[]): Promise<NestedServer> {
    const server = new NestedServer(keys);
    await new Promise<void>((resolve) => server.#server.listen(0, '127.0.0.1', resolve));
    return server;
  }

  /** Base URL of the service. */
  get url(): string {
    return `http://127.0.0.1:${(this.#server.address() as AddressInfo).port}`;
  }

  /** Number of requests that the service received. */
  get requests(): number {
    return this.#count;
  }

  /** Stops the service. */
  async close(): Promise<void> {
    this.#server.closeAllConnections();
    await new Promise((resolve) => this.#server.close(resolve));
  }

  async #handle(request: IncomingMessage, response: ServerResponse): Promise<void> {
    const body = await text(request);
    this.#count += 1;
    const [status, reply] = this.#reply(request, body);
    const headers: Record<string, string> = { 'content-type': 'application/json;charset=UTF-8' };
    if (status === 429) headers['retry-after'] = new Date(Date.now() + 1000).toUTCString();
    response.writeHead(status, headers).end(reply === undefined ? undefined : JSON.stringify(reply));
  }

  #reply({ method, url = '', headers }: IncomingMessage, body: string): Reply {
    try {
      const { pathname, searchParams: query } = new URL(url, 'http://nested.invalid');
      const tenant = this.#tenants.get(/^Bearer (\S+)$/.exec(headers.authorization ?? '')?.[1] ?? '');
      if (!tenant) throw new Refusal(401, 'AUTHENTICATION_FAILED', 'The API key is missing or invalid.');
      if (this.#count % requestsPerRefusal === 0) throw new Refusal(429, 'easy', 'Slow down.');
      const { handler, id } = routeTo(routes, method, pathname);
      return handler({ tenant, id, query, sent: () => parsedBody(body) });
    } catch (error) {
      if (!(error instanceof Refusal)) throw error;
      return [error.status, { error: { code: error.code, message: error.message } }];
    }
  }
}
