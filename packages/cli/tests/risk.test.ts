import { afterAll, beforeAll, expect, test } from 'vitest';
import { actlog } from './command-line.ts';
import { TestService } from './test-service.ts';

let service: TestService;

beforeAll(async () => {
  service = await TestService.start();
  const started = Date.now() - 60_000;
  for (const [index, toolName] of [
    'fetch_web_page',
    'get_credentials',
    'send_email',
    'delete_user',
  ].entries()) {
    await service.client.events.create({
      agentId: 'newsletter',
      sessionId: 'weekly',
      sourceTimestamp: new Date(started + index * 1000).toISOString(),
      category: 'tool_api',
      schemaVersion: '1.0',
      payload: { toolName, argumentsHash: `sha256:${index}`, responseStatus: 200 },
    });
  }
});

afterAll(() => service.close());

function risk(...args: string[]) {
  return actlog(['risk', ...args], { env: service.env });
}

const scope = ['--rule', 'misuse.delete-after-untrusted', '--agent', 'newsletter'];

test('previews a judgment, saves it, lists it, ends it', async () => {
  const why = ['--reason', 'Cleans up after each run'];
  const preview = await risk('expect', ...scope, ...why, '--preview');
  expect(preview.stdout).toMatch(/^effect +Of 1 past sessions within reach, 1 score lower\.$/m);
  expect((await risk('judgments')).stdout).not.toContain('jdg_');
  const unasked = await risk('expect', ...scope, ...why);
  expect(unasked.exitCode).toBe(2);
  expect(unasked.stderr).toContain('Add --yes to save this judgment');
  const saved = await risk('expect', ...scope, ...why, '--until', '90d', '--yes', '--json');
  const { judgment, effect } = JSON.parse(saved.stdout);
  expect(effect).toMatchObject({ examined: 1, lowered: 1 });
  expect(Date.parse(judgment.expiresAt) - Date.now()).toBeGreaterThan(89 * 86_400_000);
  expect((await risk('judgments')).stdout).toMatch(
    new RegExp(`^${judgment.id} +expected +active +misuse.delete-after-untrusted, agent newsletter`, 'm'),
  );
  const ended = await risk('end', judgment.id, '--undo');
  expect(ended.stdout).toMatch(/^effect +Of 1 past sessions within reach, 1 score higher\.$/m);
  expect((await risk('judgments')).stdout).not.toContain('jdg_');
  expect((await risk('judgments', '--all')).stdout).toContain(judgment.id);
});

test('confirms an attack, and shows what people found out about a session', async () => {
  const saved = await risk('attack', '--session', 'weekly', '--reason', 'Incident 12', '--yes');
  expect(saved.stdout).toMatch(/^scope +session weekly$/m);
  const review = await risk('review', 'weekly');
  expect(review.stdout).toMatch(/^risk +9\d critical$/m);
  expect(review.stdout).toMatch(/^judgments +attack: session weekly$/m);
});

test('handles a session, which leaves the riskiest, and opens it again', async () => {
  const listed = async (...args: string[]) =>
    JSON.parse((await actlog(['overview', '--json', ...args], { env: service.env })).stdout).riskiestSessions;
  expect(await listed()).toHaveLength(1);
  expect((await risk('handle', 'weekly', '--reason', 'Talked to the team')).stdout).toMatch(
    /^status +handled$/m,
  );
  expect(await listed()).toHaveLength(0);
  expect(await listed('--handled')).toHaveLength(1);
  expect((await risk('reopen', 'weekly')).stdout).toMatch(/^status +open$/m);
  expect(await listed()).toHaveLength(1);
});

test('says what is wrong with a judgment, and with its id', async () => {
  const broad = await risk('expect', '--agent', 'newsletter', '--reason', 'all of it', '--yes');
  expect(broad.exitCode).not.toBe(0);
  expect(broad.stderr).toContain('without a rule it would hide other acts');
  expect((await risk('end', 'jdg_1')).stderr).toContain('`actlog risk judgments --all` shows the ids');
});

test('sets the level from which a webhook is notified of risk', async () => {
  const { id } = await service.client.notificationChannels.create({ url: 'https://example.com/hook' });
  const shown = await actlog(['channels', 'show', id], { env: service.env });
  expect(shown.stdout).toMatch(/^risk from +high$/m);
  const set = await actlog(['channels', 'risk-level', id, 'critical'], { env: service.env });
  expect(set.stdout).toMatch(/^risk from +critical$/m);
  const wrong = await actlog(['channels', 'risk-level', id, 'huge'], { env: service.env });
  expect(wrong.stderr).toContain('must be one of: low, medium, high, critical');
});
