// A server process that returns precomputed responses, so that only the caller's work is measured.
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';

const [sessionCount = 0, pageSize = 1] = process.argv.slice(2).map(Number);
const pageCount = sessionCount / pageSize;
const at = '2026-01-01T00:00:00.000Z';

const session = {
  agentId: 'agt_1',
  agentIds: ['agt_1'],
  startedAt: at,
  lastEventAt: at,
  eventCount: 42,
  errorCount: 1,
  toolNames: ['search', 'read_file', 'write_file'],
  risk: { score: 12, level: 'low' },
};
const items = Array.from({ length: pageSize }, (_unused, index) => ({ id: `session-${index}`, ...session }));
const pageStart = `{"items":${JSON.stringify(items)},"nextCursor":`;

const agent = JSON.stringify({
  id: 'agt_1',
  name: 'billing',
  description: null,
  framework: 'langchain',
  version: '1.0.0',
  owner: 'payments',
  metadata: { region: 'eu' },
  status: 'active',
  registered: true,
  createdAt: at,
  updatedAt: at,
  lastSeenAt: at,
});
const acknowledgement = JSON.stringify({ eventId: 'e', receivedAt: at, warnings: [] });

function responseTo(method: string, url: string): { status: number; body: string } {
  if (method === 'POST') return { status: 202, body: acknowledgement };
  if (!url.startsWith('/v1/sessions')) return { status: 200, body: agent };
  const page = Number(new URL(url, 'http://localhost').searchParams.get('cursor') ?? 0) + 1;
  return { status: 200, body: `${pageStart}${page < pageCount ? `"${page}"` : 'null'}}` };
}

const server = createServer((request, response) => {
  request.resume();
  request.on('end', () => {
    const { status, body } = responseTo(request.method ?? '', request.url ?? '');
    response.writeHead(status, {
      'content-type': 'application/json',
      'content-length': Buffer.byteLength(body),
      'x-request-id': 'req_1',
    });
    response.end(body);
  });
});

server.listen(0, '127.0.0.1', () => process.send?.((server.address() as AddressInfo).port));
process.on('disconnect', () => process.exit());
