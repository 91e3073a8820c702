import { afterAll, beforeAll, expect, it } from 'vitest';
import { actlog } from './command-line.ts';
import { TestService } from './test-service.ts';

let service: TestService;

beforeAll(async () => {
  service = await TestService.start();
  const statuses = { read_page: 200, refund: 403, get_order: 500 };
  for (const [toolName, responseStatus] of Object.entries(statuses)) {
    await service.client.events.create({
      eventId: crypto.randomUUID(),
      agentId: 'billing',
      sessionId: 's-1',
      sourceTimestamp: new Date().toISOString(),
      category: 'tool_api',
      schemaVersion: '1.0',
      payload: { toolName, argumentsHash: 'sha256:aa', responseStatus },
    });
  }
});

afterAll(() => service.close());

it('shows what happened as tables', async () => {
  const { stdout, exitCode } = await actlog(['overview'], { env: service.env });
  expect(exitCode).toBe(0);
  expect(stdout).toMatch(/^calls +3$/m);
  expect(stdout).toMatch(/^errors +1$/m);
  expect(stdout).toMatch(/^denials +1$/m);
  expect(stdout).toMatch(/^AGENT +CALLS +ERRORS +DENIALS\nbilling +3 +1 +1$/m);
  expect(stdout).toMatch(/^get_order +1 +1 +0$/m);
});

it('prints the response as JSON, with the series', async () => {
  const args = ['overview', '--since', '2d', '--interval', 'day', '--json'];
  const { series, totals } = JSON.parse((await actlog(args, { env: service.env })).stdout);
  expect(totals).toMatchObject({ calls: 3, sessions: 1 });
  expect(series).toHaveLength(3);
});

it('names the parameter of a span that is too long', async () => {
  const { stderr, exitCode } = await actlog(['overview', '--since', '60d'], { env: service.env });
  expect(exitCode).not.toBe(0);
  expect(stderr).toContain('query.since');
});

it('searches the events of all sessions by what happened', async () => {
  const lines = async (...flags: string[]) => {
    const { stdout, exitCode } = await actlog(['events', 'search', ...flags], { env: service.env });
    expect(exitCode).toBe(0);
    return stdout.trimEnd().split('\n');
  };
  const [header, row, ...more] = await lines('--status', 'denied', '--since', '1h');
  expect(header).toMatch(/^TIME +SESSION +AGENT +CATEGORY +TOOL +STATUS +ARGUMENTS$/);
  expect(row).toMatch(/ s-1 +billing +tool_api +refund +403 +sha256:aa$/);
  expect(more).toEqual([]);
  const found = await lines('--arguments-hash', 'sha256:aa', '--jsonl');
  expect(found.map((line) => JSON.parse(line).payload.toolName)).toEqual([
    'get_order',
    'refund',
    'read_page',
  ]);
});
