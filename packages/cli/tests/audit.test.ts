import { afterAll, beforeAll, expect, it } from 'vitest';
import { actlog } from './command-line.ts';
import { TestService } from './test-service.ts';

let service: TestService;

beforeAll(async () => {
  service = await TestService.start();
  const { id } = await service.client.policies.create({ name: 'refunds', effect: 'deny' });
  await service.client.policies.update(id, { priority: 7 });
  await service.client.agents.create({ id: 'billing', name: 'Billing' });
});

afterAll(() => service.close());

it('lists who changed what, newest first', async () => {
  const { stdout, exitCode } = await actlog(['audit'], { env: service.env });
  expect(exitCode).toBe(0);
  const [header, ...lines] = stdout.trimEnd().split('\n');
  expect(header).toMatch(/^TIME +WHO +ACTION +TARGET +FIELDS$/);
  expect(lines).toEqual([
    expect.stringMatching(/startServer +agent\.registered +Billing +name, status$/),
    expect.stringMatching(/startServer +policy\.updated +refunds +priority, version, definitionSha256$/),
    expect.stringMatching(/startServer +policy\.created +refunds +name/),
  ]);
});

it('filters, and exports the values as JSON lines', async () => {
  const args = ['audit', '--kind', 'policy', '--action', 'policy.updated', '--since', '1h', '--jsonl'];
  const { stdout } = await actlog(args, { env: service.env });
  const entries = stdout
    .trimEnd()
    .split('\n')
    .map((line) => JSON.parse(line));
  expect(entries).toMatchObject([
    {
      changes: [
        { field: 'priority', before: 0, after: 7 },
        { field: 'version' },
        { field: 'definitionSha256' },
      ],
    },
  ]);
});

it('explains that a key without all scopes cannot read it', async () => {
  const { stderr, exitCode } = await actlog(['audit'], { env: service.agentEnv });
  expect(exitCode).not.toBe(0);
  expect(stderr).toContain('requires every scope');
});

it('rejects an unknown action before a request, and names the known ones', async () => {
  const { stderr, exitCode } = await actlog(['audit', '--action', 'policy.read'], { env: service.env });
  expect(exitCode).toBe(2);
  expect(stderr).toContain('policy.created');
});
