import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtempSync, readdirSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { hashArguments } from '@actlog/tool-call';
import { expect, test } from 'vitest';
import { newApiKey } from '../../src/tenants/api-key.ts';
import { asSuperuser, onPostgres, withTestDatabase } from '../test-database.ts';
import { atTestEnd } from '../test-end.ts';
import {
  keyValues,
  protobufOf,
  sendCompressed,
  sendTraces,
  toolSpanJson,
  traceRequest,
} from './trace-request.ts';

const canary = 'canary-7f3a9c';

/** Starts a server in a process of its own, and returns its address and the log that it has written so far. */
async function loggingServer(
  options: object,
): Promise<{ url: string; log: () => string; stop: () => Promise<void> }> {
  const flags = ['--conditions=@actlog/source', '--disable-warning=ExperimentalWarning'];
  const file = join(import.meta.dirname, '..', 'child-server-main.ts');
  const child = spawn(process.execPath, [...flags, file, JSON.stringify({ ...options, logLevel: 'trace' })], {
    stdio: ['ignore', 'pipe', 'pipe'],
  });
  const exited = once(child, 'exit');
  const stop = async () => {
    child.kill('SIGKILL');
    await exited;
  };
  atTestEnd(stop);
  let log = '';
  for (const stream of [child.stdout, child.stderr]) {
    stream.setEncoding('utf8').on('data', (chunk) => {
      log += chunk;
    });
  }
  const address = () => /^http:\S+$/m.exec(log)?.[0];
  while (address() === undefined) await once(child.stdout, 'data');
  return { url: address() as string, log: () => log, stop };
}

/** Returns all that a database contains, as text. */
async function contentOf(database: string, folder: string): Promise<string> {
  if (!onPostgres)
    return readdirSync(folder)
      .map((name) => readFileSync(join(folder, name), 'latin1'))
      .join('\n');
  const tables = await asSuperuser<{ name: string }>(
    `select tablename as name from pg_tables where schemaname = 'public'
     union select viewname from pg_views where schemaname = 'public'`,
    database,
  );
  const rows = await Promise.all(
    tables.map(({ name }) => asSuperuser<object>(`select * from ${name}`, database)),
  );
  return JSON.stringify(rows);
}

test('keeps nothing of arguments and results: not in the database, the log or a response', async () => {
  const folder = mkdtempSync(join(tmpdir(), 'actlog-otlp-'));
  atTestEnd(async () => rmSync(folder, { recursive: true }));
  const apiKey = newApiKey('test');
  const options = await withTestDatabase({ database: join(folder, 'actlog.db') });
  const { url, log, stop } = await loggingServer({ ...options, apiKey });
  const server = { server: { url }, apiKey } as never;
  const secret = { token: canary, nested: [{ [canary]: canary }] };
  const shown = {
    'gen_ai.conversation.id': 'secret',
    'gen_ai.tool.call.arguments': JSON.stringify(secret),
    'gen_ai.tool.call.result': `${canary} was found`,
    'gen_ai.input.messages': canary,
  };
  const failed = {
    status: { code: 2, message: canary },
    events: [
      {
        name: 'exception',
        attributes: keyValues({
          'exception.type': 'E',
          'exception.message': canary,
          'exception.stacktrace': canary,
        }),
      },
    ],
  };
  const good = traceRequest([
    toolSpanJson('search', shown),
    toolSpanJson('refund', { ...shown, 'gen_ai.tool.call.arguments': secret }, failed),
    toolSpanJson('bad', shown, { traceId: canary }),
  ]);
  const text = JSON.stringify(good);
  const responses = [
    await sendTraces(server, text),
    await sendTraces(server, protobufOf(traceRequest([toolSpanJson('search', shown)]))),
    await sendTraces(server, text.slice(0, -1)),
    await sendTraces(server, `{"resourceSpans": "${canary}"}`),
    await sendTraces(server, `{"${canary}": 1e999}`),
    await sendTraces(server, Buffer.from(canary)),
    await sendCompressed(server, Buffer.from(canary), 'application/json'),
    await sendTraces(server, text, { 'content-type': `text/${canary}` }),
    await sendTraces(server, text, { 'content-encoding': canary }),
    await sendTraces(server, text, { authorization: `Bearer ${canary}` }),
  ];
  expect(responses.map(({ status }) => status)).toEqual([200, 200, 400, 400, 400, 400, 400, 415, 415, 401]);
  for (const response of responses) {
    expect(JSON.stringify([...response.headers]) + (await response.text())).not.toContain(canary);
  }
  const session = await fetch(new URL('/v1/sessions/secret', url), {
    headers: { authorization: `Bearer ${apiKey}` },
  });
  const stored = await session.text();
  expect(stored).toContain(await hashArguments(secret));
  expect(stored).not.toContain(canary);
  await stop();
  expect(log().match(/"route":"\/otlp\/v1\/traces"/g)).toHaveLength(responses.length);
  expect(log()).not.toContain(canary);
  const content = await contentOf(options.database ?? '', folder);
  expect(content).toContain('sha256:');
  expect(content).not.toContain(canary);
});
