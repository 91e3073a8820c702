import { randomUUID } from 'node:crypto';
import { type ActivityEvent, type BodyOf, type EndpointName, endpoints, type SentOf } from '@actlog/protocol';
import { contract, errorEnvelope } from '@actlog/protocol/schemas';
import { expect } from 'vitest';
import { type RunningServer, type ServerOptions, startServer } from '../src/index.ts';
import { undocumented } from './documented-responses.ts';
import { withTestDatabase } from './test-database.ts';
import { atFileEnd, atTestEnd } from './test-end.ts';

/**
 * Returns a server for the test: with options a new one, which is closed after the test; without options a new tenant of
 * one that the tests of a file share, because a start takes longer than most tests. A test that is about all tenants, the
 * first tenant or the whole server passes `{}`.
 */
export async function testServer(options?: ServerOptions): Promise<TestServer> {
  if (options === undefined) return newTenant(await sharedServer());
  const server = await start(options, atTestEnd);
  return new TestServer(server, server.apiKey);
}

async function start(options: ServerOptions, atEnd: typeof atTestEnd): Promise<RunningServer> {
  const server = await startServer({
    docs: false,
    // The receivers in tests listen on any free port.
    webhookAllowedPorts: 'any',
    ...(await withTestDatabase(options, atEnd)),
  });
  atEnd(() => server.close());
  return server;
}

let shared: Promise<RunningServer> | undefined;

function sharedServer(): Promise<RunningServer> {
  if (!shared) {
    shared = start({}, atFileEnd);
    atFileEnd(async () => {
      shared = undefined;
    });
  }
  return shared;
}

/** Returns a server as a new tenant sees it, with a key that has every scope. */
export async function newTenant(server: RunningServer): Promise<TestServer> {
  const tenant = `t-${randomUUID()}`;
  await server.admin.tenants.create(tenant);
  const { apiKey } = await server.admin.keys.create(tenant, { kind: 'test', name: 'startServer' });
  return new TestServer({ ...server, apiKey, close: refuseClose }, apiKey, tenant);
}

async function refuseClose(): Promise<never> {
  throw new Error('Other tests use the server: pass {} to testServer() for one that may be closed.');
}

/** Options of a call. */
export interface CallOptions {
  readonly id?: string;
  readonly query?: Readonly<Record<string, string | number>>;
  readonly body?: unknown;
  readonly headers?: Readonly<Record<string, string>>;
}

/** Error of the envelope. */
export interface TestError {
  readonly status: number;
  readonly code: string;
  readonly message: string;
  readonly details: readonly { path: string; code: string; message: string }[];
  readonly headers: Headers;
}

/**
 * A server with a key. Every response is validated against the contract and the OpenAPI document before a test sees it.
 */
export class TestServer {
  readonly server: RunningServer;
  readonly apiKey: string;
  /** Name of the key's tenant. */
  readonly tenant: string;

  constructor(server: RunningServer, apiKey: string, tenant = 'default') {
    this.server = server;
    this.apiKey = apiKey;
    this.tenant = tenant;
  }

  /** Returns the same server with another key of the tenant. */
  as(apiKey: string): TestServer {
    return new TestServer(this.server, apiKey, this.tenant);
  }

  /** Sends a request to an endpoint of the table. */
  send(name: EndpointName, { id, query = {}, body, headers = {} }: CallOptions = {}): Promise<Response> {
    const { method, path } = endpoints[name];
    const url = new URL(path.replace(':id', encodeURIComponent(id ?? '')), this.server.url);
    for (const [field, value] of Object.entries(query)) url.searchParams.set(field, String(value));
    return fetch(url, {
      method,
      headers: {
        authorization: `Bearer ${this.apiKey}`,
        ...(body !== undefined && { 'content-type': 'application/json' }),
        ...headers,
      },
      ...(body !== undefined && { body: typeof body === 'string' ? body : JSON.stringify(body) }),
    });
  }

  /** Returns the response body of a successful call, with the status and the shape of the contract. */
  async ok<Name extends EndpointName>(name: Name, options?: CallOptions): Promise<SentOf<Name>> {
    const response = await this.send(name, options);
    const body: unknown = await response.json();
    expect({ status: response.status, body }).toMatchObject({ status: endpoints[name].success });
    expect(response.headers.get('x-request-id')).toMatch(/^[0-9a-f-]{36}$/);
    const parsed = contract[name].response.sent.safeParse(body);
    expect(parsed.error?.issues ?? []).toEqual([]);
    expect(undocumented(name, response.status, body)).toEqual([]);
    return body as SentOf<Name>;
  }

  /** Returns the error of a refused call. */
  async refused(name: EndpointName, options?: CallOptions): Promise<TestError> {
    const response = await this.send(name, options);
    const body: unknown = await response.clone().json();
    expect(undocumented(name, response.status, body)).toEqual([]);
    return readError(response);
  }

  /** Sends events one after the other, and returns their ids. */
  async record(...events: readonly Partial<ActivityEvent>[]): Promise<string[]> {
    const ids: string[] = [];
    for (const fields of events) {
      ids.push((await this.ok('events.create', { body: activityEvent(fields) })).eventId);
    }
    return ids;
  }

  /** Sends events a hundred at a time: more connections at once make a slow machine give up on some. */
  async recordMany(events: readonly Partial<ActivityEvent>[]): Promise<void> {
    for (let from = 0; from < events.length; from += 100) {
      await Promise.all(events.slice(from, from + 100).map((fields) => this.record(fields)));
    }
  }

  /** Creates a policy that matches everything, unless the fields limit it. */
  policy(fields: Partial<BodyOf<'policies.create'>> = {}): Promise<SentOf<'policies.create'>> {
    return this.ok('policies.create', { body: { name: 'test', effect: 'deny', ...fields } });
  }

  /** Checks an action of the tool `refund`, unless the fields differ. */
  check(fields: Partial<BodyOf<'policies.check'>> = {}, headers = {}): Promise<SentOf<'policies.check'>> {
    return this.ok('policies.check', { body: checkBody(fields), headers });
  }
}

/** Parses a response that must be an error in the envelope. */
export async function readError(response: Response): Promise<TestError> {
  const { error } = errorEnvelope.parse(await response.json());
  expect(response.headers.get('content-type')).toBe('application/json; charset=utf-8');
  return {
    status: response.status,
    code: error.code,
    message: error.message,
    details: (error.details ?? []) as TestError['details'],
    headers: response.headers,
  };
}

/** Returns an event of a tool call. */
export function activityEvent(fields: Partial<ActivityEvent> = {}): ActivityEvent {
  return {
    eventId: randomUUID(),
    agentId: 'billing-agent',
    sessionId: 'thread-1',
    sourceTimestamp: new Date().toISOString(),
    category: 'tool_api',
    schemaVersion: '1.0',
    payload: { toolName: 'refund', argumentsHash: 'sha256:aa', responseStatus: 200 },
    ...fields,
  };
}

/** Returns the body of a check. */
export function checkBody(fields: Partial<BodyOf<'policies.check'>> = {}): BodyOf<'policies.check'> {
  return {
    agentId: 'billing-agent',
    sessionId: 'thread-1',
    action: { toolName: 'refund', argumentsHash: 'sha256:aa' },
    ...fields,
  };
}
