// An MCP server over stdio as a test scripts it: it writes all that it reads to a file, and does what a tool's name says.
import { appendFileSync, readFileSync } from 'node:fs';

const [received, emitted] = process.argv.slice(2);
let text = '';

interface Message {
  readonly id?: unknown;
  readonly method?: string;
  readonly params?: { readonly name: string; readonly arguments?: unknown };
}

const send = (message: object) => process.stdout.write(`${JSON.stringify({ jsonrpc: '2.0', ...message })}\n`);

const tools: Readonly<Record<string, (args: unknown) => object>> = {
  echo: (args) => ({ content: [{ type: 'text', text: JSON.stringify(args) }] }),
  fail: () => ({ isError: true, content: [{ type: 'text', text: 'It failed.' }] }),
  missing: () => ({ isError: true, content: [{ type: 'text', text: 'Unknown tool: missing' }] }),
  environment: () => ({ content: [{ type: 'text', text: Object.keys(process.env).join(' ') }] }),
};

const initialized = {
  protocolVersion: '2025-06-18',
  capabilities: { tools: {} },
  serverInfo: { name: 'scripted', version: '1' },
};

function take(message: Message | Message[]): void {
  if (Array.isArray(message)) {
    const responses = message.map(responseTo).filter(Boolean);
    if (responses.length > 0) process.stdout.write(`${JSON.stringify(responses)}\n`);
    return;
  }
  const response = responseTo(message);
  if (response) process.stdout.write(`${JSON.stringify(response)}\n`);
}

function responseTo({ id, method, params }: Message): object | undefined {
  if (id === undefined || method === undefined) return undefined;
  if (method !== 'tools/call') return { jsonrpc: '2.0', id, result: initialized };
  const { name = '', arguments: args } = params ?? {};
  if (name === 'crash') {
    process.stderr.write('The server crashes.\n');
    process.exit(7);
  }
  if (name === 'abort') process.kill(process.pid, 'SIGKILL');
  if (name === 'silent') return undefined;
  if (name === 'reject') {
    return { jsonrpc: '2.0', id, error: { code: -32602, message: 'Invalid arguments for tool reject: x' } };
  }
  return { jsonrpc: '2.0', id, result: tools[name]?.(args) ?? { content: [] } };
}

process.stdin.on('data', (chunk: Buffer) => {
  if (received) appendFileSync(received, chunk);
  text += chunk.toString('latin1');
  if (!chunk.includes(10)) return;
  const lines = text.split('\n');
  text = lines.pop() ?? '';
  for (const line of lines) {
    const whole = Buffer.from(line, 'latin1').toString();
    try {
      take(JSON.parse(whole));
    } catch {
      // what is not JSON is only recorded
    }
  }
});
process.stdin.on('end', () => {
  process.exitCode = Number(process.env.EXIT_CODE ?? 0);
});
if (process.env.IGNORES_END) setInterval(() => {}, 1000);
if (process.env.IGNORES_SIGTERM) process.on('SIGTERM', () => process.stderr.write('SIGTERM was ignored.\n'));
if (emitted) process.stdout.write(readFileSync(emitted));
send({ method: 'notifications/ready' });
