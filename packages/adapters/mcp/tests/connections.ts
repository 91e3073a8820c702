import { StreamableHTTPClientTransport as V2ClientTransport } from '@modelcontextprotocol/client';
import { StreamableHTTPClientTransport as V1ClientTransport } from '@modelcontextprotocol/sdk/client/streamableHttp.js';
import { StreamableHTTPServerTransport as V1ServerTransport } from '@modelcontextprotocol/sdk/server/streamableHttp.js';
import { WebStandardStreamableHTTPServerTransport as V2ServerTransport } from '@modelcontextprotocol/server';
import { listen, listenFetch } from './http-listener.ts';
import type { Connect } from './mcp-harness.ts';
import * as v1 from './sdk-v1.ts';
import * as v2 from './sdk-v2.ts';

/** v1 on both sides, in this process. */
export const v1InMemory: Connect = async ({ tools, sessionId }, adapt) => {
  const server = adapt('server', v1.emptyServer());
  v1.register(server, tools);
  const client = adapt('client', v1.newClient());
  await v1.connectInMemory(client, server, sessionId);
  return {
    call: (name, args, signal) => client.callTool({ name, arguments: args }, undefined, signal && { signal }),
    close: () => client.close(),
  };
};

/** v2 on both sides, in this process. */
export const v2InMemory: Connect = async ({ tools, sessionId }, adapt) => {
  const server = adapt('server', v2.emptyServer());
  v2.register(server, tools);
  const client = adapt('client', v2.newClient());
  await v2.connectInMemory(client, server, sessionId);
  return {
    call: (name, args, signal) => client.callTool({ name, arguments: args }, signal && { signal }),
    close: () => client.close(),
  };
};

/** v1 on both sides, over HTTP with sessions. */
export const v1OverHttp: Connect = async ({ tools, sessionId }, adapt) => {
  const server = adapt('server', v1.emptyServer());
  v1.register(server, tools);
  const serverSide = new V1ServerTransport({ sessionIdGenerator: () => sessionId });
  await server.connect(serverSide as Parameters<typeof server.connect>[0]);
  const listener = await listen((request, response) => serverSide.handleRequest(request, response));
  const client = adapt('client', v1.newClient());
  await client.connect(new V1ClientTransport(listener.url) as Parameters<typeof client.connect>[0]);
  return {
    call: (name, args, signal) => client.callTool({ name, arguments: args }, undefined, signal && { signal }),
    async close() {
      await client.ping(); // a cancellation may still be in transit to the server
      await client.close();
      await server.close();
      await listener.close();
    },
  };
};

/** v2 on both sides, over HTTP with sessions. */
export const v2OverHttp: Connect = async ({ tools, sessionId }, adapt) => {
  const server = adapt('server', v2.emptyServer());
  v2.register(server, tools);
  const serverSide = new V2ServerTransport({ sessionIdGenerator: () => sessionId });
  await server.connect(serverSide);
  const listener = await listenFetch((request) => serverSide.handleRequest(request));
  const client = adapt('client', v2.newClient());
  await client.connect(new V2ClientTransport(listener.url));
  return {
    call: (name, args, signal) => client.callTool({ name, arguments: args }, signal && { signal }),
    async close() {
      await client.ping(); // a cancellation may still be in transit to the server
      await client.close();
      await server.close();
      await listener.close();
    },
  };
};
