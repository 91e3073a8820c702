import { expect } from 'vitest';
import type { TestServer } from '../test-server.ts';

/** Response of a route of the server, as JSON. */
export interface RouteResponse {
  readonly status: number;
  // biome-ignore lint/suspicious/noExplicitAny: tests compare what they expect of it
  readonly body: Record<string, any>;
}

/** Sends a request to a route below `/server/v1`. */
export async function route(
  server: TestServer,
  method: string,
  place: string,
  body?: unknown,
): Promise<RouteResponse> {
  const response = await fetch(`${server.server.url}/server/v1${place}`, {
    method,
    headers: { authorization: `Bearer ${server.apiKey}`, 'content-type': 'application/json' },
    ...(body !== undefined && { body: JSON.stringify(body) }),
  });
  return { status: response.status, body: (await response.json()) as Record<string, unknown> };
}

/** Adds a channel, and returns its id. */
export async function addChannel(
  server: TestServer,
  channel: {
    readonly kind: string;
    readonly name?: string;
    readonly settings?: object;
    readonly rules?: object;
  },
): Promise<string> {
  const { status, body } = await route(server, 'POST', '/channels', { name: 'ops', ...channel });
  expect({ status, body }).toMatchObject({ status: 201 });
  return body.id;
}
