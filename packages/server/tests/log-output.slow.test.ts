import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { closeSync, openSync } from 'node:fs';
import type { Readable } from 'node:stream';
import { expect, test as onAnySystem } from 'vitest';
import { commandEnvironment, commandLine } from './command-line.ts';
import { atTestEnd } from './test-end.ts';

// Only Linux has /dev/full.
const test = onAnySystem.skipIf(process.platform !== 'linux');

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
