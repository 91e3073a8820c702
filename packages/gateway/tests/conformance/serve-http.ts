import { randomUUID } from 'node:crypto';
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { StreamableHTTPServerTransport } from '@modelcontextprotocol/sdk/server/streamableHttp.js';
import type { Transport } from '@modelcontextprotocol/sdk/shared/transport.js';
import { LATEST_PROTOCOL_VERSION } from '@modelcontextprotocol/sdk/types.js';
import { createConformanceServer } from './create-server.ts';
import { StoredEvents } from './stored-events.ts';

/** Delay that clients are told to wait for before they resume a stream, in milliseconds. */
const retryInterval = 10;

const transports = new Map<string, StreamableHTTPServerTransport>();

/** Listens on a free port of this machine, with a server for each session, and returns the address. */
export async function serveHttp(): Promise<string> {
  const http = createServer((request, response) => void handle(request, response));
  http.listen(0, '127.0.0.1');
  await new Promise((resolve) => http.once('listening', resolve));
  const { port } = http.address() as AddressInfo;
  return `http://127.0.0.1:${port}/mcp`;
}

async function handle(request: IncomingMessage, response: ServerResponse): Promise<void> {
  const id = request.headers['mcp-session-id'];
  const transport = transports.get(String(id)) ?? (await startSession(request.socket.localPort));
  sendNegotiatedRevision(request);
  await transport.handleRequest(request, response);
}

/** Starts a session, whose transport rejects all but `initialize`, and requests of web pages (DNS rebinding). */
async function startSession(port: number | undefined): Promise<StreamableHTTPServerTransport> {
  const transport: StreamableHTTPServerTransport = new StreamableHTTPServerTransport({
    sessionIdGenerator: () => randomUUID(),
    onsessioninitialized: (id) => void transports.set(id, transport),
    onsessionclosed: (id) => void transports.delete(id),
    eventStore: new StoredEvents(),
    retryInterval,
    enableDnsRebindingProtection: true,
    allowedHosts: [`127.0.0.1:${port}`],
  });
  // The SDK's types differ under exactOptionalPropertyTypes.
  await createConformanceServer().connect(transport as Transport);
  return transport;
}

/**
 * Replaces the revision of a request by the session's: the scenario `server-sse-polling` negotiates the latest revision, and
 * then sends an earlier one, for which the SDK does not make a stream resumable.
 */
function sendNegotiatedRevision(request: IncomingMessage): void {
  const at = request.rawHeaders.findIndex((name) => name.toLowerCase() === 'mcp-protocol-version');
  if (at >= 0) request.rawHeaders[at + 1] = LATEST_PROTOCOL_VERSION;
}
