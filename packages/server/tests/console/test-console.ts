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

/** Response that shows a new key. */
export interface ShownNewKey {
  readonly key: ShownKey;
  readonly apiKey: string;
}

/** Routes of the console, with a method that each supports. */
export const consoleRoutes: readonly (readonly ['GET' | 'POST' | 'DELETE', string])[] = [
  ['GET', 'identity'],
  ['GET', 'limits'],
  ['GET', 'keys'],
  ['POST', 'keys'],
  ['POST', 'keys/:id/rotate'],
  ['POST', 'keys/:id/revoke'],
  ['GET', 'sign-ins'],
  ['DELETE', 'sign-ins/:id'],
  ['POST', 'sessions/:id/learn'],
];

/** Routes that show or change keys. */
export const keysRoutes: typeof consoleRoutes = consoleRoutes.filter(([, path]) => path.startsWith('keys'));

/** Returns the id in a key. */
export function idOf(apiKey: string): string {
  return apiKey.slice(8, 18);
}

/** Requests of the console to a server, with the key of the signed-in user. */
export class TestConsole {
  readonly server: TestServer;

  constructor(server: TestServer) {
    this.server = server;
  }

  /** Returns the same console with another key signed in. */
  as(apiKey: string): TestConsole {
    return new TestConsole(this.server.as(apiKey));
  }

  /** Sends a request to a path below `/console/api/`. A body that is a string is sent unchanged. */
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

  /** Returns the error of a refused request. */
  async refused(method: string, path: string, body?: unknown): Promise<TestError> {
    return readError(await this.send(method, path, body));
  }

  /** Returns the listed keys. */
  async keys(): Promise<readonly ShownKey[]> {
    return (await this.#request<{ items: readonly ShownKey[] }>(200, 'GET', 'keys')).items;
  }

  /** Creates a key. */
  create(body: object): Promise<ShownNewKey> {
    return this.#request(201, 'POST', 'keys', body);
  }

  /** Replaces a key. */
  rotate(id: string, body?: object): Promise<ShownNewKey> {
    return this.#request(201, 'POST', `keys/${id}/rotate`, body);
  }

  /** Revokes a key. */
  async revoke(id: string, body?: object): Promise<ShownKey> {
    return (await this.#request<{ key: ShownKey }>(200, 'POST', `keys/${id}/revoke`, body)).key;
  }

  /** Returns the identity of the signed-in key. */
  identity(): Promise<object> {
    return this.#request(200, 'GET', 'identity');
  }

  async #request<Body>(success: number, method: string, path: string, body?: unknown): Promise<Body> {
    const response = await this.send(method, path, body);
    const json: unknown = await response.json();
    expect({ status: response.status, json }).toMatchObject({ status: success });
    expect(response.headers.get('x-request-id')).toMatch(/^[0-9a-f-]{36}$/);
    expect(response.headers.get('content-type')).toBe('application/json; charset=utf-8');
    return json as Body;
  }
}
