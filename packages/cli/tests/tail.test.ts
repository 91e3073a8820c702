import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { Actlog } from '@actlog/client';
import { startServer } from '@actlog/server';
import { afterAll, beforeAll, expect, it, onTestFinished } from 'vitest';
import { start } from './command-line.ts';
import { TestService } from './test-service.ts';

let service: TestService;

beforeAll(async () => {
  service = await TestService.start();
});

afterAll(() => service.close());

const flags = ['--jsonl', '--interval', '50ms'];

/** Starts a command that runs until it is interrupted. */
function follow(args: readonly string[], env = service.env) {
  const tail = start(args, { env });
  onTestFinished(() => tail.kill());
  return {
    next: async () => JSON.parse(await tail.stdout.line()),
    nextNote: () => tail.stderr.line(),
    interrupt: async (signal: NodeJS.Signals) => {
      tail.kill(signal);
      return (await tail.exit).code;
    },
  };
}

it('prints the last events of a session, then each new one, until it is interrupted', async () => {
  await service.record('order-1', ['first', 'second', 'third']);
  const tail = follow(['sessions', 'tail', 'order-1', '--last', '2', ...flags]);
  expect((await tail.next()).payload.toolName).toBe('second');
  expect((await tail.next()).payload.toolName).toBe('third');
  await service.record('order-1', ['fourth']);
  expect((await tail.next()).payload.toolName).toBe('fourth');
  await service.record('order-1', ['fifth', 'sixth']);
  expect((await tail.next()).payload.toolName).toBe('fifth');
  expect((await tail.next()).payload.toolName).toBe('sixth');
  expect(await tail.interrupt('SIGINT')).toBe(130);
});

it('follows a session over many pages of events', async () => {
  const names = Array.from({ length: 205 }, (_, index) => `tool_${index}`);
  await service.record('long', names);
  const tail = follow(['sessions', 'tail', 'long', '--last', '1', ...flags]);
  expect((await tail.next()).payload.toolName).toBe('tool_204');
  await service.record('long', ['after']);
  expect((await tail.next()).payload.toolName).toBe('after');
  expect(await tail.interrupt('SIGTERM')).toBe(143);
});

it('prints each new session of the tenant', async () => {
  await service.record('earlier', ['get_order']);
  const tail = follow(['sessions', 'tail', '--last', '1', ...flags]);
  expect((await tail.next()).id).toBe('earlier');
  await service.record('later', ['get_order']);
  expect((await tail.next()).id).toBe('later');
  expect(await tail.interrupt('SIGINT')).toBe(130);
});

it('goes on when the service is back, and says so on standard error', async () => {
  const folder = mkdtempSync(join(tmpdir(), 'actlog-cli-'));
  onTestFinished(() => rmSync(folder, { recursive: true }));
  const database = join(folder, 'actlog.db');
  const first = await startServer({ port: 0, database });
  const { apiKey } = await first.admin.keys.create('default', { name: 'tail' });
  const env = { ACTLOG_BASE_URL: first.url, ACTLOG_API_KEY: apiKey };
  const send = async (sessionId: string) => {
    const event = { agentId: 'a', sessionId, category: 'note', payload: {} };
    await new Actlog({ baseURL: first.url, apiKey }).events.create(event);
  };
  await send('before');
  const tail = follow(['sessions', 'tail', ...flags], env);
  expect((await tail.next()).id).toBe('before');
  await first.close();
  expect(await tail.nextNote()).toMatch(/Trying again until it responds\.$/);
  const second = await startServer({ port: Number(new URL(first.url).port), database });
  onTestFinished(() => second.close());
  await send('after');
  expect((await tail.next()).id).toBe('after');
  expect(await tail.nextNote()).toBe('The service responds again.');
  expect(await tail.interrupt('SIGINT')).toBe(130);
});
