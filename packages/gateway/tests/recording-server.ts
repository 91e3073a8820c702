// An MCP server over stdio that records its calls with actlog itself.
import { actlog } from '@actlog/mcp';
import { McpServer } from '@modelcontextprotocol/server';
import { StdioServerTransport } from '@modelcontextprotocol/server/stdio';
import * as z from 'zod';

const server = actlog(new McpServer({ name: 'recording', version: '1.0.0' }));
server.registerTool('greet', { inputSchema: z.object({ name: z.string() }) }, ({ name }) => ({
  content: [{ type: 'text', text: `Hello, ${name}` }],
}));
await server.connect(new StdioServerTransport());
