import { fileURLToPath } from 'node:url';
import { StreamableHTTPClientTransport as V2ClientTransport } from '@modelcontextprotocol/client';
import { StdioClientTransport as V2StdioTransport } from '@modelcontextprotocol/client/stdio';
import { StdioClientTransport as V1StdioTransport } from '@modelcontextprotocol/sdk/client/stdio.js';
import { StreamableHTTPClientTransport as V1ClientTransport } from '@modelcontextprotocol/sdk/client/streamableHttp.js';
import { InMemoryTransport } from '@modelcontextprotocol/sdk/inMemory.js';
import { StreamableHTTPServerTransport as V1ServerTransport } from '@modelcontextprotocol/sdk/server/streamableHttp.js';
import { WebStandardStreamableHTTPServerTransport as V2ServerTransport } from '@modelcontextprotocol/server';
import { type Listener, listen, listenFetch } from './http-listener.ts';
import * as v1 from './sdk-v1.ts';
import * as v2 from './sdk-v2.ts';

/** Both generations of the SDK. */
export const sdks = { v1, v2 } as const;
export type Generation = keyof typeof sdks;

/** A client of either generation. */
export type AnyClient = Pick<v1.Client, 'callTool' | 'close' | 'connect' | 'request' | 'transport'>;

/** Creates a server with its tools. Over HTTP it is called for each session or request. */
export type CreateServer = () => v1.McpServer | v2.McpServer;

/** Something to close after a test. */
export interface Closable {
  close(): Promise<unknown>;
}

/** Connects both in this process. */
export async function connectInMemory(client: AnyClient, create: CreateServer): Promise<Closable[]> {
  const [clientSide, serverSide] = InMemoryTransport.createLinkedPair();
  await create().connect(serverSide as never);
  await client.connect(clientSide as never);
  return [client];
}

/** Connects over HTTP with a server that keeps sessions, one for each. */
export async function connectWithSession(
  client: AnyClient,
  generations: { readonly client: Generation; readonly server: Generation },
  create: CreateServer,
): Promise<Closable[]> {
  const { listener, servers } = await listenWithSessions(generations.server, create);
  await connectTo(listener.url, client, generations.client);
  return [client, ...servers, listener];
}

/** Connects over HTTP with a server for each request. */
export async function connectWithoutSession(
  client: AnyClient,
  generations: { readonly client: Generation; readonly server: Generation },
  create: CreateServer,
): Promise<Closable[]> {
  const listener = await listenWithoutSessions(generations.server, create);
  await connectTo(listener.url, client, generations.client);
  return [client, listener];
}

/** Connects a client to an address. */
export async function connectTo(url: URL, client: AnyClient, generation: Generation): Promise<void> {
  const Transport = generation === 'v1' ? V1ClientTransport : V2ClientTransport;
  await client.connect(new Transport(url) as never);
}

/** Connects with a server in a process of its own: `stdio-server.ts`, or another program. */
export async function connectOverStdio(
  client: AnyClient,
  generation: Generation,
  { program = 'stdio-server.ts', args, env }: StdioServer,
): Promise<Closable[]> {
  const Transport = generation === 'v1' ? V1StdioTransport : V2StdioTransport;
  const file = fileURLToPath(new URL(program, import.meta.url));
  const flags = ['--conditions=@actlog/source', '--disable-warning=ExperimentalWarning'];
  const environment = { ...(process.env as Record<string, string>), ...env };
  await client.connect(
    new Transport({ command: process.execPath, args: [...flags, file, ...args], env: environment }) as never,
  );
  return [client];
}

interface StdioServer {
  readonly program?: string;
  readonly args: readonly string[];
  readonly env: Readonly<Record<string, string>>;
}

/** Listens with one server for all clients that share a session, whose id is `transport-N`. */
export async function listenWithSessions(
  generation: Generation,
  create: CreateServer,
): Promise<{ readonly listener: Listener; readonly servers: Closable[] }> {
  const servers: Closable[] = [];
  const byId = new Map<string, (...args: never[]) => Promise<unknown>>();
  const handlerOf = async (id: string | null | undefined) => {
    const known = id ? byId.get(id) : undefined;
    if (known) return known;
    const sessionId = `transport-${byId.size + 1}-${crypto.randomUUID()}`;
    const Transport = generation === 'v1' ? V1ServerTransport : V2ServerTransport;
    const transport = new Transport({ sessionIdGenerator: () => sessionId });
    const server = create();
    servers.push(server);
    await server.connect(transport as never);
    const handle = transport.handleRequest.bind(transport) as (...args: never[]) => Promise<unknown>;
    byId.set(sessionId, handle);
    return handle;
  };
  const listener =
    generation === 'v1'
      ? await listen(async (request, response) => {
          const handle = await handlerOf(request.headers['mcp-session-id'] as string | undefined);
          await handle(request as never, response as never);
        })
      : await listenFetch(async (request) => {
          const handle = await handlerOf(request.headers.get('mcp-session-id'));
          return (await handle(request as never)) as Response;
        });
  return { listener, servers };
}

/** Listens with a server for each request. */
export function listenWithoutSessions(generation: Generation, create: CreateServer): Promise<Listener> {
  if (generation === 'v2') {
    return listenFetch(async (request) => {
      const transport = new V2ServerTransport({ sessionIdGenerator: undefined, enableJsonResponse: true });
      await create().connect(transport as never);
      return transport.handleRequest(request);
    });
  }
  return listen(async (request, response) => {
    const transport = new V1ServerTransport({
      sessionIdGenerator: undefined,
      enableJsonResponse: true,
    } as never);
    await create().connect(transport as never);
    await transport.handleRequest(request, response);
  });
}
