// An MCP server over stdio whose list of tools is a file that a test writes: `{ pages: [[tool, …], …] }`, perhaps with
// `prompts` and `instructions`. A call returns the
// name of its tool; the tool `announce` announces a changed list first.
import { appendFileSync, readFileSync } from 'node:fs';

const [file = '', received] = process.argv.slice(2);
let text = '';

interface Message {
  readonly id?: unknown;
  readonly method?: string;
  readonly params?: { readonly name?: string; readonly cursor?: string };
}

const send = (message: object) => process.stdout.write(`${JSON.stringify({ jsonrpc: '2.0', ...message })}\n`);

function resultOf({ method, params }: Message): object {
  if (method === 'initialize') {
    const serverInfo = { name: 'listing', version: '1' };
    const { instructions } = JSON.parse(readFileSync(file, 'utf8')) as { instructions?: string };
    const capabilities = { tools: { listChanged: true } };
    return { protocolVersion: '2025-06-18', capabilities, serverInfo, ...(instructions && { instructions }) };
  }
  if (method === 'tools/list') {
    const { pages } = JSON.parse(readFileSync(file, 'utf8')) as { pages: unknown[][] };
    const index = Number(params?.cursor ?? 0);
    return { tools: pages[index] ?? [], ...(index + 1 < pages.length && { nextCursor: String(index + 1) }) };
  }
  if (method === 'prompts/list') return { prompts: JSON.parse(readFileSync(file, 'utf8')).prompts ?? [] };
  if (method === 'prompts/get')
    return { messages: [{ role: 'user', content: { type: 'text', text: 'Go.' } }] };
  if (method !== 'tools/call') return {};
  if (params?.name === 'announce') send({ method: 'notifications/tools/list_changed' });
  return { content: [{ type: 'text', text: `ran ${params?.name}` }] };
}

process.stdin.on('data', (chunk: Buffer) => {
  if (received) appendFileSync(received, chunk);
  text += chunk.toString();
  const lines = text.split('\n');
  text = lines.pop() ?? '';
  for (const line of lines) {
    const message = JSON.parse(line) as Message;
    const list = message.method === 'tools/list' ? readFileSync(file, 'utf8') : '';
    if (list.includes('"Evil."')) {
      // With its repeated members.
      const tools = list.slice(list.indexOf('[[') + 1, -2);
      process.stdout.write(`{"jsonrpc":"2.0","id":${message.id},"result":{"tools":${tools}}}\n`);
    } else if (message.id !== undefined && message.method !== undefined) {
      send({ id: message.id, result: resultOf(message) });
    }
  }
});
