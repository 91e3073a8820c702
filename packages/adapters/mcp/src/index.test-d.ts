import { Client as V2Client } from '@modelcontextprotocol/client';
import { Client as V1Client } from '@modelcontextprotocol/sdk/client/index.js';
import { Server as V1Server } from '@modelcontextprotocol/sdk/server/index.js';
import { McpServer as V1McpServer } from '@modelcontextprotocol/sdk/server/mcp.js';
import { McpServer as V2McpServer, Server as V2Server } from '@modelcontextprotocol/server';
import { FastMCP } from 'fastmcp';
import { expectTypeOf, test } from 'vitest';
import * as z from 'zod';
import { actlog } from './index.ts';

const info = { name: 'x', version: '1.0.0' };

test('what it is given keeps its type', () => {
  expectTypeOf(actlog(new V1Client(info))).toEqualTypeOf<V1Client>();
  expectTypeOf(actlog(new V2Client(info))).toEqualTypeOf<V2Client>();
  expectTypeOf(actlog(new V1McpServer(info))).toEqualTypeOf<V1McpServer>();
  expectTypeOf(actlog(new V2McpServer(info))).toEqualTypeOf<V2McpServer>();
  expectTypeOf(actlog(new V1Server(info))).toEqualTypeOf<V1Server>();
  expectTypeOf(actlog(new V2Server(info))).toEqualTypeOf<V2Server>();
  expectTypeOf(actlog(new FastMCP({ name: 'x', version: '1.0.0' }))).toEqualTypeOf<FastMCP>();
});

test('arguments of tools are inferred as before', () => {
  actlog(new V2McpServer(info)).registerTool('echo', { inputSchema: z.object({ n: z.number() }) }, (args) => {
    expectTypeOf(args).toEqualTypeOf<{ n: number }>();
    return { content: [] };
  });
  expectTypeOf(actlog(new V1Client(info)).callTool).toEqualTypeOf<V1Client['callTool']>();
});

test('what is neither client nor server is refused', () => {
  // @ts-expect-error -- a transport makes no calls
  actlog({ start: () => {}, send: () => {} });
});

test('options are no first argument', () => {
  // @ts-expect-error -- it has its own place for options
  actlog({ guard: { mode: 'off' } });
});
