// The server that the conformance suite tests, over stdio or over Streamable HTTP.
import { StdioServerTransport } from '@modelcontextprotocol/sdk/server/stdio.js';
import { createConformanceServer } from './create-server.ts';
import { serveHttp } from './serve-http.ts';

if (process.argv[2] === 'stdio') await createConformanceServer().connect(new StdioServerTransport());
else process.stdout.write(`Listening on ${await serveHttp()}\n`);
