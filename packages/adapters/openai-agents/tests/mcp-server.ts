import { createInterface } from 'node:readline';

/** A message of a client over standard input, as JSON-RPC has it. */
interface Request {
  readonly id?: number;
  readonly method: string;
  readonly params?: { readonly protocolVersion?: string };
}

/** An MCP server over standard input and output, whose only tool refuses every call. */
const inputSchema = { type: 'object', properties: { path: { type: 'string' } }, required: ['path'] };
const results: Readonly<Record<string, (request: Request) => object>> = {
  initialize: ({ params }) => ({
    protocolVersion: params?.protocolVersion,
    capabilities: { tools: {} },
    serverInfo: { name: 'files', version: '1.0.0' },
  }),
  'tools/list': () => ({ tools: [{ name: 'read', description: 'Reads a file.', inputSchema }] }),
  'tools/call': () => ({ isError: true, content: [{ type: 'text', text: 'Access denied.' }] }),
};

for await (const line of createInterface({ input: process.stdin })) {
  const request = JSON.parse(line) as Request;
  if (request.id === undefined) continue; // a notification
  const result = results[request.method]?.(request) ?? {};
  process.stdout.write(`${JSON.stringify({ jsonrpc: '2.0', id: request.id, result })}\n`);
}
