import { once } from 'node:events';
import { get, type IncomingMessage, request } from 'node:http';
import { expect, test, vi } from 'vitest';
import { watchedStorages } from './storage-seam.ts';
import { checkBody, type TestServer, testServer } from './test-server.ts';

/** Returns the number of finished requests of a route, by status. */
async function ended(server: TestServer, route: string): Promise<Record<string, number>> {
  const text = await (await fetch(`${server.server.url}/metrics`)).text();
  const counts = text.matchAll(
    /^actlog_http_request_duration_seconds_count\{method="\w+",route="([^"]+)",status="(\d+)"\} (\d+)$/gm,
  );
  return Object.fromEntries(
    [...counts].filter(([, of]) => of === route).map(([, , status, n]) => [status, Number(n)]),
  );
}

test('logs an export whose client disconnects before its end', async () => {
  const server = await testServer();
  const payload = { text: 'x'.repeat(250_000) };
  await server.record(...Array.from({ length: 60 }, () => ({ category: 'note', payload })));
  const headers = { authorization: `Bearer ${server.apiKey}` };
  const requested = get(`${server.server.url}/v1/sessions/thread-1/export.json`, { headers, agent: false });
  const [response] = (await once(requested, 'response')) as [IncomingMessage];
  response.destroy();
  await vi.waitFor(async () =>
    expect(await ended(server, '/v1/sessions/:id/export.json')).toEqual({ 499: 1 }),
  );
});

test('logs a waiting check once when its agent disconnects', async () => {
  const server = await testServer();
  await server.policy({ effect: 'require_approval' });
  const watched = watchedStorages();
  const requested = request(`${server.server.url}/v1/policies/check`, {
    method: 'POST',
    agent: false,
    headers: {
      authorization: `Bearer ${server.apiKey}`,
      'content-type': 'application/json',
      prefer: 'wait=25',
    },
  });
  requested.on('error', () => {});
  requested.end(JSON.stringify(checkBody({ actionId: 'call-1' })));
  await vi.waitFor(() => expect(watched).toHaveLength(1));
  requested.destroy();
  await vi.waitFor(async () => expect(await ended(server, '/v1/policies/check')).toEqual({ 499: 1 }));
  await server.check({ actionId: 'call-1' });
  expect(await ended(server, '/v1/policies/check')).toEqual({ 200: 1, 499: 1 });
});
