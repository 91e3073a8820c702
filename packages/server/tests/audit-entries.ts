import type { AuditEntry, AuditEntryPage } from '@actlog/protocol';
import type { TestServer } from './test-server.ts';

/** Sends a request to a route that is not in the endpoint table. */
export function sendTo(
  { server, apiKey }: TestServer,
  method: string,
  path: string,
  body?: unknown,
): Promise<Response> {
  return fetch(server.url + path, {
    method,
    headers: {
      authorization: `Bearer ${apiKey}`,
      ...(body !== undefined && { 'content-type': 'application/json' }),
    },
    ...(body !== undefined && { body: JSON.stringify(body) }),
  });
}

/** Returns the response body of a successful request to such a route. */
export async function sentTo<Body>(
  server: TestServer,
  method: string,
  path: string,
  body?: unknown,
): Promise<Body> {
  const response = await sendTo(server, method, path, body);
  const text = await response.text();
  if (!response.ok) throw new Error(`${method} ${path} failed with ${response.status}: ${text}`);
  return JSON.parse(text) as Body;
}

/** Returns the entries of the audit log, newest first. */
export async function auditEntries(server: TestServer, query = ''): Promise<readonly AuditEntry[]> {
  return (await sentTo<AuditEntryPage>(server, 'GET', `/server/v1/audit?limit=200${query}`)).items;
}
