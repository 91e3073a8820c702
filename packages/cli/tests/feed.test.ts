import { readFeed } from '@actlog/client/server';
import { afterAll, beforeAll, expect, test, vi } from 'vitest';
import { actlog, start } from './command-line.ts';
import { TestService } from './test-service.ts';

let service: TestService;

beforeAll(async () => {
  service = await TestService.start();
});

afterAll(() => service.close());

/** Returns the tools of the tool calls in lines of the feed. */
function toolsOf(text: string): string[] {
  return text
    .split('\n')
    .filter((line) => line !== '')
    .map((line) => JSON.parse(line))
    .filter(({ kind }) => kind === 'event')
    .map(({ row }) => row.payload.toolName);
}

test('prints records in the order of the log, and follows them until Ctrl+C', async () => {
  await service.record('order-1', ['search', 'refund']);
  const following = start(['feed', '--follow'], { env: service.env });
  await vi.waitFor(() => expect(toolsOf(following.stdout.text)).toEqual(['search', 'refund']), 10_000);
  await service.record('order-1', ['notify']);
  await vi.waitFor(
    () => expect(toolsOf(following.stdout.text)).toEqual(['search', 'refund', 'notify']),
    10_000,
  );
  following.kill('SIGINT');
  expect((await following.exit).code).toBe(130);
});

test('resumes after an index, and ends at a limit', async () => {
  const all = (await actlog(['feed'], { env: service.env })).stdout.trimEnd().split('\n');
  expect(all.length).toBeGreaterThan(2);
  const { stdout, exitCode } = await actlog(['feed', '--after', '0', '--limit', '2'], { env: service.env });
  expect(exitCode).toBe(0);
  expect(stdout.trimEnd().split('\n')).toEqual(all.slice(1, 3));
});

test('reads at the pace of the consumer, who may stop at any record', async () => {
  await service.record(
    'order-2',
    Array.from({ length: 150 }, (_, index) => `tool_${index}`),
  );
  await vi.waitFor(async () => {
    const { stdout } = await actlog(['feed'], { env: service.env });
    expect(toolsOf(stdout)).toHaveLength(153);
  }, 10_000);
  const indexes: number[] = [];
  for await (const { index } of readFeed(service.client, { receipts: true })) {
    indexes.push(index);
    if (indexes.length === 100) break;
  }
  expect(indexes).toEqual(Array.from({ length: 100 }, (_, index) => index));
});

test('reports a key without the scope to read', async () => {
  const { apiKey } = await service.server.admin.keys.create('default', { name: 'agent', scopes: ['ingest'] });
  const env = { ...service.env, ACTLOG_API_KEY: apiKey };
  expect(await actlog(['feed'], { env })).toMatchObject({ exitCode: 4, stdout: '' });
});
