import { createServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { text } from 'node:stream/consumers';
import { ForeignTenant } from './foreign-tenant.ts';
import { found, type Json, nothing, parsedBody, Refusal, requiredText } from './refusal.ts';
import { routesOf, routeTo } from './routes.ts';

/** Status and body of a response; undefined for no body. */
type Reply = readonly [status: number, body?: unknown];

/** An authenticated request. */
interface Visit {
  readonly tenant: ForeignTenant;
  readonly id: string;
  readonly query: URLSearchParams;
  /** The body as JSON. */
  readonly sent: () => Json;
}

type Handler = (visit: Visit) => Reply;

/** Path of the service below its origin. */
const prefix = '/eu/agents-api';

/** Returns a page with another name for its items and an unrelated array next to them. */
function paged(name: string, all: readonly unknown[], query: URLSearchParams): Reply {
  const limit = Number(query.get('limit')) || 10;
  const start = Number(Buffer.from(query.get('cursor') ?? '', 'base64').toString()) || 0;
  const end = start + limit;
  const nextCursor = end < all.length ? Buffer.from(String(end)).toString('base64') : null;
  return [200, { [name]: all.slice(start, end), hints: [], total: all.length, nextCursor }];
}

/** Returns the risk with ten areas by name, and with custom names for factors and recommendations. */
function riskOf(events: readonly Json[]): Json {
  const areas = Object.fromEntries(
    Array.from({ length: 10 }, (_, index) => [`area${index}`, { points: index }]),
  );
  return { overall: 12.5, seen: events.length, areas, why: ['it was quiet'], todo: ['nothing'] };
}

const handlers: Readonly<Record<string, Handler>> = {
  'POST /v1/events': ({ tenant, sent }) => {
    const event = sent();
    tenant.record(event);
    const receivedAt = new Date().toISOString().replace('Z', '+00:00');
    return [202, { eventId: event.eventId, receivedAt, warnings: [], partition: 7 }];
  },
  'GET /v1/sessions': ({ tenant, query }) => paged('data', tenant.sessions(), query),
  'GET /v1/sessions/:id': ({ tenant, id }) => {
    const timeline = tenant.events(id).map((event) => ({ at: event.sourceTimestamp, event }));
    return [200, { session: { key: id }, timeline, newest: timeline.at(-1) }];
  },
  'GET /v1/sessions/:id/risk': ({ tenant, id }) => [200, riskOf(tenant.events(id))],
  'GET /v1/sessions/:id/export.json': ({ tenant, id }) => [200, { of: id, log: tenant.events(id) }],
  'POST /v1/agents': ({ tenant, sent }) => {
    const number = tenant.newNumber();
    tenant.agents.set(number, { displayName: requiredText(sent(), 'displayName'), number });
    return [200, { created: tenant.agents.get(number) }];
  },
  'GET /v1/agents': ({ tenant, query }) => paged('records', [...tenant.agents.values()], query),
  'GET /v1/agents/:id': ({ tenant, id }) => [200, found(tenant.agents.get(id))],
  'PATCH /v1/agents/:id': ({ tenant, id, sent }) => {
    found(tenant.agents.get(id)).displayName = requiredText(sent(), 'displayName');
    return [204];
  },
  'GET /v1/agents/:id/sessions': ({ tenant, id, query }) => paged('results', tenant.sessions(id), query),
  'POST /v1/policies': ({ tenant, sent }) => {
    const policyUuid = crypto.randomUUID();
    const { hold } = sent();
    tenant.policies.set(policyUuid, { title: requiredText(sent(), 'title'), policyUuid, hold });
    return [200, { policyUuid }];
  },
  'GET /v1/policies': ({ tenant, query }) => paged('policies', [...tenant.policies.values()], query),
  'GET /v1/policies/:id': ({ tenant, id }) => [200, found(tenant.policies.get(id))],
  'PATCH /v1/policies/:id': ({ tenant, id, sent }) => {
    found(tenant.policies.get(id)).title = requiredText(sent(), 'title');
    return [204];
  },
  'DELETE /v1/policies/:id': ({ tenant, id }) => (tenant.policies.delete(id) ? [204] : nothing()),
  'POST /v1/policies/check': ({ tenant, sent }) => [200, tenant.check(requiredText(sent(), 'who'))],
  'GET /v1/guardian/pending-actions': ({ tenant, query }) =>
    paged('entries', [...tenant.held.values()], query),
  'POST /v1/guardian/pending-actions/:id/decide': ({ tenant, id, sent }) => {
    found(tenant.held.get(id));
    requiredText(sent(), 'verdict');
    tenant.held.delete(id);
    return [204];
  },
  'POST /v1/notification-channels': ({ tenant, sent }) => {
    const channel = { target: requiredText(sent(), 'target'), ref: tenant.newNumber() };
    tenant.channels.push(channel);
    return [201, channel];
  },
  'GET /v1/notification-channels': ({ tenant, query }) => paged('items', tenant.channels, query),
};

const routes = routesOf(handlers);

/**
 * A service that conforms to the specification and makes every choice that it leaves open differently than the
 * reference server: other bodies, ids, list names, statuses and codes, no optional fields, 422, a rate limit, a gateway
 * that fails now and then, and events that can be read a little later than they were accepted.
 */
export class ForeignServer {
  readonly #tenants: ReadonlyMap<string, ForeignTenant>;
  readonly #server: Server;
  #count = 0;

  private constructor(keys: readonly string[]) {
    this.#tenants = new Map(keys.map((key) => [key, new ForeignTenant()]));
    this.#server = createServer((request, response) => void this.#handle(request, response));
  }

  /** Starts a service with a tenant for each key. */
  static async start(keys: readonly string[]): Promise<ForeignServer> {
    const server = new ForeignServer(keys);
    await new Promise<void>((resolve) => server.#server.listen(0, '127.0.0.1', resolve));
    return server;
  }

  /** Base URL of the service. */
  get url(): string {
    return `http://127.0.0.1:${(this.#server.address() as AddressInfo).port}${prefix}`;
  }

  /** Stops the service. */
  async close(): Promise<void> {
    this.#server.closeAllConnections();
    await new Promise((resolve) => this.#server.close(resolve));
  }

  async #handle(request: IncomingMessage, response: ServerResponse): Promise<void> {
    const body = await text(request);
    this.#count += 1;
    if (this.#count % 45 === 0) {
      response.writeHead(503, { 'content-type': 'text/html' }).end('<h1>Service Unavailable</h1>');
      return;
    }
    const headers = {
      'content-type': 'Application/JSON',
      'retry-after': new Date(Date.now() + 2000).toUTCString(),
    };
    const [status, reply] = this.#reply(request, body);
    response.writeHead(status, headers).end(reply === undefined ? undefined : JSON.stringify(reply));
  }

  #reply({ method, url = '', headers }: IncomingMessage, body: string): Reply {
    try {
      const { pathname, searchParams: query } = new URL(url, 'http://foreign.invalid');
      const [, key = ''] = /^Bearer (\S+)$/.exec(headers.authorization ?? '') ?? [];
      const tenant = this.#tenants.get(key);
      if (!tenant) throw new Refusal(401, 'AUTHENTICATION_FAILED', 'API key invalid or missing');
      if (this.#count % 40 === 0) throw new Refusal(429, 'slow-down', 'That was too much.');
      const path = pathname.slice(prefix.length);
      const { handler, id } = routeTo(routes, method, path);
      return handler({ tenant, id, query, sent: () => parsedBody(body) });
    } catch (error) {
      if (!(error instanceof Refusal)) throw error;
      return [error.status, { error: { code: error.code, message: error.message } }];
    }
  }
}
