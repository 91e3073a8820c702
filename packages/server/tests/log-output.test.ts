import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { closeSync, openSync } from 'node:fs';
import { request } from 'node:http';
import type { Readable } from 'node:stream';
import { expect, test as onAnySystem } from 'vitest';
import { commandEnvironment, commandLine, start } from './command-line.ts';
import { onPostgres } from './test-database.ts';
import { atTestEnd } from './test-end.ts';

// The log is independent of the database, so one run is enough. Only Linux has /dev/full.
const test = onAnySystem.skipIf(onPostgres || process.platform !== 'linux');

/** Starts the command with its log to `stdout`, and waits until it listens. */
async function started(
  stdout: 'pipe' | number,
): Promise<{ child: ChildProcess; url: string; apiKey: string }> {
  const child = spawn(process.execPath, [...commandLine, '--port', '0', '--database', ':memory:'], {
    env: commandEnvironment(),
    stdio: ['ignore', stdout, 'pipe'],
  });
  // Kills a process that hangs after a timeout of the test.
  atTestEnd(async () => void child.kill('SIGKILL'));
  const stderr = child.stderr as Readable;
  let output = '';
  stderr.setEncoding('utf8').on('data', (chunk) => {
    output += chunk;
  });
  while (!output.includes('ACTLOG_API_KEY=')) await once(stderr, 'data');
  const shown = (name: string) => new RegExp(`${name}=(\\S+)`).exec(output)?.[1] as string;
  return { child, url: shown('ACTLOG_BASE_URL'), apiKey: shown('ACTLOG_API_KEY') };
}

/** Starts the command in this process, and waits until it listens. */
async function startedHere() {
  const server = start(['--port', '0', '--database', ':memory:']);
  atTestEnd(async () => server.kill());
  await server.stderr.until((text) => text.includes('ACTLOG_API_KEY='));
  const shown = (name: string) => new RegExp(`${name}=(\\S+)`).exec(server.stderr.text)?.[1] as string;
  return { server, url: shown('ACTLOG_BASE_URL'), apiKey: shown('ACTLOG_API_KEY') };
}

async function numberOf(url: string, name: string): Promise<number> {
  const text = await (await fetch(`${url}/metrics`)).text();
  return Number(new RegExp(`^${name} (\\d+)$`, 'm').exec(text)?.[1]);
}

async function stopped(child: ChildProcess): Promise<number | null> {
  const exit = once(child, 'exit');
  child.kill('SIGTERM');
  const [code] = await exit;
  return code;
}

test("responds and stops on request when the log's disk is full", async () => {
  const full = openSync('/dev/full', 'w');
  const { child, url } = await started(full);
  closeSync(full);
  expect((await fetch(`${url}/readyz`)).status).toBe(200);
  expect((await fetch(`${url}/readyz`)).status).toBe(200);
  expect(await stopped(child)).toBe(0);
});

test('limits the memory of a log that nobody reads: drops and counts further lines', {
  timeout: 120_000,
}, async () => {
  const { child, url } = await started('pipe');
  while (!((await numberOf(url, 'actlog_log_lines_dropped_total')) > 0)) {
    await Promise.all(Array.from({ length: 200 }, () => fetch(`${url}/readyz`)));
  }
  expect(await stopped(child)).toBe(0);
});

test('gives a late reader every line', { timeout: 120_000 }, async () => {
  const { child, url } = await started('pipe');
  const requests = 2000;
  for (let sent = 0; sent < requests; sent += 200) {
    await Promise.all(Array.from({ length: 200 }, () => fetch(`${url}/readyz`)));
  }
  let logged = '';
  (child.stdout as Readable).setEncoding('utf8').on('data', (chunk) => {
    logged += chunk;
  });
  expect(await stopped(child)).toBe(0);
  if (!child.stdout?.readableEnded) await once(child.stdout as Readable, 'end');
  const routes = logged
    .trimEnd()
    .split('\n')
    .map((line) => JSON.parse(line).route);
  expect(routes.filter((route) => route === '/readyz')).toHaveLength(requests);
});

test('does not log an interrupted upload as an error', async () => {
  const { server, url, apiKey } = await startedHere();
  const upload = request(`${url}/v1/events`, {
    method: 'POST',
    agent: false,
    headers: {
      authorization: `Bearer ${apiKey}`,
      'content-type': 'application/json',
      'content-length': 1000,
    },
  });
  upload.on('error', () => {});
  await new Promise((resolve) => upload.write('{', resolve));
  // A later request has a response, so the server is waiting for the rest of the body.
  await fetch(`${url}/v1/sessions`, { headers: { authorization: `Bearer ${apiKey}` } });
  await new Promise((resolve) => upload.once('close', resolve).destroy());
  server.kill();
  expect(await server.exit).toEqual({ code: 0, signal: null });
  const { logged } = server.stdout;
  const lines = logged
    .trim()
    .split('\n')
    .map((line) => JSON.parse(line) as { level: number; status?: number; route?: string });
  expect(lines.filter(({ route }) => route === '/v1/events')).toMatchObject([{ status: 499 }]);
  expect(lines.filter(({ level }) => level > 30)).toEqual([]);
});

test('logs and counts a malformed path, without its text', async () => {
  const { server, url } = await startedHere();
  for (const path of ['secret%zz', `sessions/${'x'.repeat(3000)}`]) {
    expect((await fetch(`${url}/v1/${path}`)).status).toBe(400);
  }
  const name = 'actlog_http_request_duration_seconds_count{method="GET",route="none",status="400"}';
  expect(await (await fetch(`${url}/metrics`)).text()).toContain(`${name} 2\n`);
  server.kill();
  expect(await server.exit).toEqual({ code: 0, signal: null });
  const { logged } = server.stdout;
  const lines = logged.trim().split('\n');
  const refused = lines.map((line) => JSON.parse(line)).filter(({ status }) => status === 400);
  expect(refused).toMatchObject([{ route: 'none' }, { route: 'none' }]);
  expect(refused.map(({ requestId }) => typeof requestId)).toEqual(['string', 'string']);
  expect(logged).not.toMatch(/secret|xxx/);
});
