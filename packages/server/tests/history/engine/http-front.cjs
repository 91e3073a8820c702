// Started by ClickHouse of clickhouse.ts: the engine of ClickHouse behind the part of its HTTP interface that
// `@clickhouse/client` uses. Arguments: the folder with the engine's package, the folder with the data, the port.
const { createServer } = require('node:http');
const { createRequire } = require('node:module');

const [engine, data, port] = process.argv.slice(2);
const { Session } = createRequire(`${engine}/`)('chdb');
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

const literal = (text) => `'${text.replaceAll('\\', '\\\\').replaceAll("'", "\\'")}'`;

function execute({ searchParams }, body) {
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

const server = createServer(async (request, response) => {
  const chunks = [];
  for await (const chunk of request) chunks.push(chunk);
  const url = new URL(request.url, 'http://localhost');
  if (url.pathname === '/ping') return response.end('Ok.\n');
  if (request.headers.authorization !== expected) {
    response.writeHead(403, { 'x-clickhouse-exception-code': '516' });
    return response.end('Code: 516. DB::Exception: actlog: Authentication failed. (AUTHENTICATION_FAILED)\n');
  }
  try {
    const result = execute(url, Buffer.concat(chunks).toString('utf8'));
    response.writeHead(200, { 'content-type': 'text/plain; charset=UTF-8', 'x-clickhouse-summary': '{}' });
    response.end(result);
  } catch (error) {
    const code = /Code: (\d+)/.exec(error.message)?.[1] ?? '1000';
    response.writeHead(500, { 'x-clickhouse-exception-code': code });
    response.end(`${error.message}\n`);
  }
});
session.query('create database if not exists history');
server.listen(Number(port), '127.0.0.1', () => console.log(server.address().port));
