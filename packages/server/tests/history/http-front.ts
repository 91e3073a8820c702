// Started by ClickHouse of clickhouse.ts: the engine of ClickHouse behind the part of its HTTP interface that
// `@clickhouse/client` uses. Arguments: the folder with the engine's package, and the folder with the data.
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import { createRequire } from 'node:module';
import type { AddressInfo } from 'node:net';

/** A connection to the engine. */
interface Session {
  query(sql: string, format?: string): string;
}

const [engine, data] = process.argv.slice(2);
const { Session } = createRequire(`${engine}/`)('chdb') as { Session: new (data?: string) => Session };
const session = new Session(data);
const expected = `Basic ${Buffer.from('actlog:the password').toString('base64')}`;

/** Parameters of a request that are not settings of its query. */
const ownParameters = new Set([
  'query',
  'query_id',
  'database',
  'default_format',
  'session_id',
  'role',
  'wait_end_of_query',
]);

const literal = (text: string) => `'${text.replaceAll('\\', '\\\\').replaceAll("'", "\\'")}'`;

function execute({ searchParams }: URL, body: string): string {
  const database = searchParams.get('database');
  if (database) session.query(`use ${database}`);
  const settings = [...searchParams].filter(([name]) => !ownParameters.has(name));
  for (const [name, value] of settings) session.query(`set ${name} = ${literal(value)}`);
  try {
    const query = searchParams.get('query');
    return session.query(query === null ? body : `${query}\n${body}`, 'TabSeparated');
  } finally {
    for (const [name] of settings) if (!name.startsWith('param_')) session.query(`set ${name} = default`);
  }
}

async function respond(request: IncomingMessage, response: ServerResponse): Promise<void> {
  const chunks: Buffer[] = [];
  for await (const chunk of request) chunks.push(chunk as Buffer);
  const url = new URL(request.url ?? '', 'http://localhost');
  if (request.headers.authorization !== expected) {
    response.writeHead(403, { 'x-clickhouse-exception-code': '516' });
    response.end('Code: 516. DB::Exception: actlog: Authentication failed. (AUTHENTICATION_FAILED)\n');
    return;
  }
  try {
    const result = execute(url, Buffer.concat(chunks).toString('utf8'));
    response.writeHead(200, { 'content-type': 'text/plain; charset=UTF-8', 'x-clickhouse-summary': '{}' });
    response.end(result);
  } catch (error) {
    const { message } = error as Error;
    response.writeHead(500, { 'x-clickhouse-exception-code': /Code: (\d+)/.exec(message)?.[1] ?? '1000' });
    response.end(`${message}\n`);
  }
}

const server = createServer((request, response) => void respond(request, response));
session.query('create database if not exists history');
server.listen(0, '127.0.0.1', () => console.log((server.address() as AddressInfo).port));
