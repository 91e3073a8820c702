import { createHash } from 'node:crypto';
import { failure, json, type Script, ScriptedServer } from '../scripted-server.ts';

const events = '[{"eventId":"1"},{"eventId":"2"}]';
const contentSha256 = createHash('sha256').update(events).digest('hex');

/** Expected results of the program on every runtime, except how the platform sends. */
export const expected = {
  client: 'Actlog',
  warnings: [],
  sessions: ['s0', 's1', 's2'],
  taken: ['s0'],
  attempts: 2,
  requestId: 'req_1',
  notFound: true,
  message: 'GET /v1/agents/missing failed with 404 NOT_FOUND: it is NOT_FOUND',
  names: ['NotFoundError', 'NotFoundError', true],
  timeout: 'APITimeoutError',
  abort: 'APIAbortError',
  exported: 2,
  webhook: 'policy.matched',
  forged: 'WEBHOOK_VERIFICATION',
  id: 36,
};

/** Starts a server for the program of the runtimes. Any number of runs may use it at once. */
export async function startService(pages: Readonly<Record<string, [type: string, body: string]>> = {}) {
  const server = await new ScriptedServer().start();
  let refused = 0;
  const respond: Script = (response, request) => {
    const { pathname, searchParams } = new URL(request.url, 'http://localhost');
    const page = pages[pathname];
    const reply = (script: Script) => script(response, request);
    if (page) return void response.writeHead(200, { 'content-type': page[0] }).end(page[1]);
    if (request.headers.authorization !== 'Bearer al_test_runtimes')
      return reply(failure(401, 'AUTHENTICATION_FAILED'));
    if (pathname === '/v1/events') {
      const { eventId, payload } = JSON.parse(request.body);
      const warnings = payload.text === 'ü' ? [] : ['not as it was sent'];
      return reply(json(202, { eventId, receivedAt: new Date().toISOString(), warnings }));
    }
    if (pathname === '/v1/sessions') {
      const isFirst = searchParams.get('cursor') === null;
      const items = isFirst ? [{ id: 's0' }, { id: 's1' }] : [{ id: 's2' }];
      return reply(json(200, { items, nextCursor: isFirst ? 'next' : null }));
    }
    if (pathname === '/v1/agents/after%20503') {
      refused += 1;
      if (refused % 2 === 1) return reply(failure(503, 'OVERLOADED', { 'retry-after': '0' }));
      return reply(json(200, { id: 'a' }, { 'x-request-id': 'req_1' }));
    }
    if (pathname === '/v1/agents/silent') return;
    if (pathname.endsWith('/export.json')) {
      response.writeHead(200, { 'content-type': 'application/json' });
      return void response.end(`{"events":${events},"eventCount":2,"contentSha256":"${contentSha256}"}`);
    }
    reply(failure(404, 'NOT_FOUND'));
  };
  server.script(respond);
  return server;
}
