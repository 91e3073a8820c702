import type { Scope } from '@actlog/protocol';
import { expect } from 'vitest';
import { readError, type TestError, type TestServer } from '../test-server.ts';

/** A key as the console shows it. */
export interface ShownKey {
  readonly id: string;
  readonly name: string;
  readonly kind: 'live' | 'test';
  readonly scopes: readonly Scope[];
  readonly createdAt: string;
  readonly lastUsedAt: string | null;
  readonly expiresAt: string | null;
  readonly current: boolean;
}

/** The answer that shows a new key. */
export interface ShownNewKey {
  readonly key: ShownKey;
  readonly apiKey: string;
}

/** The routes of the console, with a method that they take. */
export const consoleRoutes: readonly (readonly ['GET' | 'POST', string])[] = [
  ['GET', 'identity'],
  ['GET', 'keys'],
  ['POST', 'keys'],
  ['POST', 'keys/:id/rotate'],
  ['POST', 'keys/:id/revoke'],
  ['POST', 'sessions/:id/learn'],
];

/** Those among them that show or change keys. */
export const keysRoutes: typeof consoleRoutes = consoleRoutes.filter(([, path]) => path.startsWith('keys'));

/** The id of a key, which the key names. */
export function idOf(apiKey: string): string {
  return apiKey.slice(8, 18);
}

/** What the console asks of a server, with the key that a person has signed in with. */
export class TestConsole {
  readonly server: TestServer;

  constructor(server: TestServer) {
    this.server = server;
  }

  /** The same console with another key signed in. */
  as(apiKey: string): TestConsole {
    return new TestConsole(this.server.as(apiKey));
  }

  /** Sends a request to a path below `/console/api/`; a body that is a text is sent as it is. */
  send(
    method: string,
    path: string,
    body?: unknown,
    headers: Readonly<Record<string, string>> = {},
  ): Promise<Response> {
    return fetch(`${this.server.server.url}/console/api/${path}`, {
      method,
      headers: {
        authorization: `Bearer ${this.server.apiKey}`,
        ...(body !== undefined && { 'content-type': 'application/json' }),
        ...headers,
      },
      ...(body !== undefined && { body: typeof body === 'string' ? body : JSON.stringify(body) }),
    });
  }

  /** The error of a request that is refused. */
  async refused(method: string, path: string, body?: unknown): Promise<TestError> {
    return readError(await this.send(method, path, body));
  }

  /** The keys that are listed. */
  async keys(): Promise<readonly ShownKey[]> {
    return (await this.#answer<{ items: readonly ShownKey[] }>(200, 'GET', 'keys')).items;
  }

  /** Makes a key. */
  create(body: object): Promise<ShownNewKey> {
    return this.#answer(201, 'POST', 'keys', body);
  }

  /** Makes a key that takes the place of another. */
  rotate(id: string, body?: object): Promise<ShownNewKey> {
    return this.#answer(201, 'POST', `keys/${id}/rotate`, body);
  }

  /** Ends a key. */
  async revoke(id: string, body?: object): Promise<ShownKey> {
    return (await this.#answer<{ key: ShownKey }>(200, 'POST', `keys/${id}/revoke`, body)).key;
  }

  /** Who is signed in. */
  identity(): Promise<object> {
    return this.#answer(200, 'GET', 'identity');
  }

  async #answer<Answer>(success: number, method: string, path: string, body?: unknown): Promise<Answer> {
    const response = await this.send(method, path, body);
    const answer: unknown = await response.json();
    expect({ status: response.status, answer }).toMatchObject({ status: success });
    expect(response.headers.get('x-request-id')).toMatch(/^[0-9a-f-]{36}$/);
    expect(response.headers.get('content-type')).toBe('application/json; charset=utf-8');
    return answer as Answer;
  }
}
