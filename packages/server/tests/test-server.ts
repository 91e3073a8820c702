import { randomUUID } from 'node:crypto';
import { type ActivityEvent, type BodyOf, type EndpointName, endpoints, type SentOf } from '@actlog/protocol';
import { contract, errorEnvelope } from '@actlog/protocol/schemas';
import { expect } from 'vitest';
import { type RunningServer, type ServerOptions, startServer } from '../src/index.ts';
import { undocumented } from './documented-responses.ts';
import { withTestDatabase } from './test-database.ts';
import { atTestEnd } from './test-end.ts';

/** Starts a server that is closed after the test. */
export async function testServer(options: ServerOptions = {}): Promise<TestServer> {
  const server = await startServer({
    docs: false,
    // The receivers in tests listen on any free port.
    webhookAllowedPorts: 'any',
    ...(await withTestDatabase(options)),
  });
  atTestEnd(() => server.close());
  return new TestServer(server, server.apiKey);
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

  constructor(server: RunningServer, apiKey: string) {
    this.server = server;
    this.apiKey = apiKey;
  }

  /** Returns the same server with another key. */
  as(apiKey: string): TestServer {
    return new TestServer(this.server, apiKey);
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
