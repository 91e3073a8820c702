// A service process that accepts events of every recorder, counts them, and fails on request.
import { createServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { gunzipSync, zstdDecompressSync } from 'node:zlib';

/** Faults of the sink. */
export type Fault = 'none' | 'unavailable' | 'throttled' | 'reset' | 'cut';

/** Commands of the parent. */
export type SinkCommand =
  | { readonly ask: 'port' | 'down' | 'up' | 'forget' | 'arrived' }
  | { readonly ask: 'fault'; readonly fault: Fault };

/** Report to the parent. */
export interface SinkReport {
  readonly port: number;
  readonly requests: number;
  /** Distinct events: our event ids, or markers in the data of other recorders. */
  readonly arrived: readonly string[];
  /** Repeated events; their id prevents duplicates. */
  readonly repeated: number;
  /** Calls with two stored events, identified by their unique tool names `call-…`. */
  readonly doubled: number;
}

/** Marks a call in the data of recorders that send it. */
const marker = /call-\d{6}/g;

/** Names one call in our events. */
const callName = /"toolName":"(call-[^"]+)"/;

const arrived = new Set<string>();
const calls = new Set<string>();
let doubled = 0;
let requests = 0;
let repeated = 0;
let fault: Fault = 'none';
let server: Server;
let port = 0;

const acknowledgement = JSON.stringify({
  eventId: '00000000-0000-7000-8000-000000000000',
  receivedAt: '2026-01-01T00:00:00.000Z',
  warnings: [],
});

function plain(body: Buffer, encoding: string | undefined): string {
  if (encoding === 'gzip') return gunzipSync(body).toString('latin1');
  if (encoding === 'zstd') return zstdDecompressSync(body).toString('latin1');
  return body.toString('latin1');
}

function store(request: IncomingMessage, body: Buffer): void {
  if (request.url === '/v1/events') {
    const id = body.toString('latin1', 12, 48); // {"eventId":"…
    if (arrived.has(id)) {
      repeated += 1;
      return;
    }
    arrived.add(id);
    const call = callName.exec(body.toString('latin1'))?.[1];
    if (call === undefined) return;
    if (calls.has(call)) doubled += 1;
    calls.add(call);
  } else {
    const text = plain(body, request.headers['content-encoding']);
    for (const [found] of text.matchAll(marker)) arrived.add(found);
  }
}

function answer(request: IncomingMessage, response: ServerResponse, body: Buffer): void {
  requests += 1;
  // One in three, so that progress continues.
  const strikes = fault !== 'none' && (fault === 'unavailable' || requests % 3 === 0);
  if (strikes && fault === 'unavailable') {
    response.writeHead(503).end();
  } else if (strikes && fault === 'throttled') {
    response.writeHead(429, { 'retry-after': '1' }).end();
  } else if (strikes && fault === 'reset') {
    store(request, body);
    request.socket.resetAndDestroy();
  } else if (strikes && fault === 'cut') {
    store(request, body);
    response.writeHead(202, { 'content-length': '1000' });
    response.write('{', () => response.destroy());
  } else {
    store(request, body);
    response.writeHead(request.url === '/v1/events' ? 202 : 200, { 'content-type': 'application/json' });
    response.end(request.url === '/v1/events' ? acknowledgement : '{}');
  }
}

async function up(): Promise<void> {
  server = createServer((request, response) => {
    const chunks: Buffer[] = [];
    request.on('data', (chunk: Buffer) => chunks.push(chunk));
    request.on('end', () => answer(request, response, Buffer.concat(chunks)));
  });
  await new Promise<void>((resolve) => server.listen(port, '127.0.0.1', resolve));
  port = (server.address() as AddressInfo).port;
}

async function obey(command: SinkCommand): Promise<void> {
  if (command.ask === 'fault') fault = command.fault;
  if (command.ask === 'up') await up();
  if (command.ask === 'down') {
    const closed = new Promise((resolve) => server.close(resolve));
    server.closeAllConnections();
    await closed;
  }
  if (command.ask === 'forget') {
    arrived.clear();
    calls.clear();
    doubled = 0;
    requests = 0;
    repeated = 0;
    fault = 'none';
  }
  const report: SinkReport = {
    port,
    requests,
    repeated,
    doubled,
    arrived: command.ask === 'arrived' ? [...arrived] : [],
  };
  process.send?.(report);
}

await up();
process.on('message', (command: SinkCommand) => void obey(command));
process.on('disconnect', () => process.exit());
process.send?.('ready');
