import { afterAll, beforeAll, expect, it } from 'vitest';
import { actlog } from './command-line.ts';
import { TestService } from './test-service.ts';

let service: TestService;

beforeAll(async () => {
  service = await TestService.start();
});

afterAll(() => service.close());

/** Runs a command and returns the JSON that it prints. */
async function json(...args: string[]) {
  const { stdout, stderr, exitCode } = await actlog([...args, '--json'], { env: service.env });
  expect({ stderr, exitCode }).toEqual({ stderr: '', exitCode: 0 });
  return JSON.parse(stdout);
}

it('registers, shows, changes and lists an agent, and lists its sessions', async () => {
  const fields = ['--name', 'Billing agent', '--agent-version', '1.2', '--metadata', '{"team":"pay"}'];
  expect(await json('agents', 'create', 'billing', ...fields)).toMatchObject({
    id: 'billing',
    version: '1.2',
    metadata: { team: 'pay' },
  });
  expect(await json('agents', 'update', 'billing', '--status', 'revoked')).toMatchObject({
    status: 'revoked',
  });
  const { stdout } = await actlog(['agents', 'show', 'billing'], { env: service.env });
  expect(stdout).toMatch(/^name +Billing agent$/m);
  expect(stdout).toMatch(/^metadata +\{"team":"pay"\}$/m);
  await service.record('order-1', ['get_order']);
  await service.record('mail-1', ['send_email'], 'mailer');
  expect(await json('agents', 'list', '--no-registered')).toMatchObject([{ id: 'mailer' }]);
  expect(await json('agents', 'list', '--status', 'revoked')).toMatchObject([{ id: 'billing' }]);
  expect(await json('agents', 'sessions', 'billing')).toMatchObject([{ id: 'order-1' }]);
  // A revoked agent would stop the key, which has acted as it.
  expect(await json('agents', 'update', 'billing', '--status', 'active')).toMatchObject({ status: 'active' });
});

it('creates a policy from options and from a file, changes it, tries it and archives it', async () => {
  const created = await json(
    ...['policies', 'create', '--name', 'Large refunds', '--effect', 'require_approval'],
    ...['--tools', 'refund*,transfer', '--tools', 'pay', '--condition', 'args.amount > 500'],
    ...['--timeout', '15m', '--on-timeout', 'deny', '--single-use', '--rate-max', '2', '--rate-window', '1h'],
    ...['--rate-per', 'agent', '--priority', '-3'],
  );
  expect(created).toMatchObject({
    match: { tools: ['refund*', 'transfer', 'pay'] },
    approval: { timeoutSeconds: 900, onTimeout: 'deny', singleUse: true },
    rate: { max: 2, windowSeconds: 3600, per: 'agent' },
    priority: -3,
  });
  const input = JSON.stringify({ rate: null, approval: { timeoutSeconds: 60 } });
  const update = ['policies', 'update', created.id, '--file', '-', '--mode', 'log_only', '--json'];
  const updated = await actlog(update, { env: service.env, input });
  expect(JSON.parse(updated.stdout)).toMatchObject({
    rate: null,
    mode: 'log_only',
    approval: { timeoutSeconds: 60, singleUse: true },
  });
  expect(await json('policies', 'update', created.id, '--mode', 'enforce')).toMatchObject({
    mode: 'enforce',
  });

  const check = ['policies', 'check', 'refund', '--agent', 'buyer', '--arguments', '{"amount":900}'];
  expect(await json(...check)).toMatchObject({ decision: 'require_approval', pendingActionId: null });
  const { stdout } = await actlog(check, { env: service.env });
  expect(stdout).toMatch(/^decision +require_approval$/m);
  expect(stdout).toMatch(new RegExp(`\\(${created.id}\\) +require_approval +enforce +\\S`, 'm'));
  expect(await json('guardian', 'list')).toEqual([]);
  expect(await json(...check, '--real')).toMatchObject({ pendingActionId: expect.stringMatching(/^pac_/) });

  expect(await json('policies', 'archive', created.id, '--yes')).toMatchObject({ status: 'archived' });
  expect(await json('policies', 'list')).toEqual([]);
  expect(await json('policies', 'list', '--status', 'all')).toMatchObject([{ id: created.id }]);
});

it('lists and decides held actions', async () => {
  const [first] = await json('guardian', 'list');
  const second = await service.hold('delete_file');
  const approved = await json('guardian', 'approve', first.id, '--comment', 'Go on.');
  expect(approved).toMatchObject({ status: 'approved', decision: { comment: 'Go on.' } });
  const denied = await actlog(['guardian', 'deny', second], { env: service.env });
  expect(denied.stdout).toMatch(/^status +denied$/m);
  const again = await actlog(['guardian', 'approve', second], { env: service.env });
  expect(again).toMatchObject({ stdout: '', exitCode: 1 });
  expect(again.stderr).toMatch(/^error: .*already/);
  expect(await json('guardian', 'list', '--status', 'denied')).toMatchObject([{ id: second }]);
});

it('creates and lists webhooks, and shows the secret once', async () => {
  const create = ['channels', 'create', 'https://example.com/actlog', '--events', 'guardian.action_pending'];
  const { stdout, stderr } = await actlog(create, { env: service.env });
  expect(stdout).toMatch(/^secret +whsec_\S+$/m);
  expect(stderr).toContain('Store the secret now');
  const listed = await json('channels', 'list');
  expect(listed).toMatchObject([{ url: 'https://example.com/actlog', events: ['guardian.action_pending'] }]);
  expect(JSON.stringify(listed)).not.toContain('whsec_');
});

it('records a tool call with the hash of its arguments alone, and says that its agent is revoked', async () => {
  await service.client.agents.update('billing', { status: 'revoked' });
  const send = [
    'events',
    'send',
    '--agent',
    'billing',
    '--session',
    'sent',
    '--tool',
    'refund',
    '--status',
    '404',
  ];
  const { stdout, stderr } = await actlog([...send, '--arguments', '{"note":"a secret"}'], {
    env: service.env,
  });
  expect(stdout).toMatch(/^Recorded the event [\w-]{36}\.\n$/);
  expect(stderr).toContain('AGENT_REVOKED');
  const { events = [] } = await service.client.sessions.get('sent');
  expect(events).toMatchObject([
    {
      payload: { toolName: 'refund', responseStatus: 404, argumentsHash: expect.stringMatching(/^sha256:/) },
    },
  ]);
  expect(JSON.stringify(events)).not.toContain('a secret');
});

it('records each line of a file, and prints an acknowledgement for each', async () => {
  const lines = ['one', 'two', 'three'].map((text) =>
    JSON.stringify({ agentId: 'writer', sessionId: 'lines', category: 'note', payload: { text } }),
  );
  const send = ['events', 'send', '--file', '-', '--jsonl'];
  const { stdout, exitCode } = await actlog(send, { env: service.env, input: lines.join('\n') });
  expect(exitCode).toBe(0);
  expect(
    stdout
      .trimEnd()
      .split('\n')
      .map((line) => JSON.parse(line)),
  ).toHaveLength(3);
  expect((await service.client.sessions.get('lines')).eventCount).toBe(3);
});
