import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, describe, expect, test } from 'vitest';
import { type CopilotRun, copilotRuns, runCopilot } from './copilot-run.ts';
import { HookService } from './hook-service.ts';

const service = await HookService.start();
afterAll(() => service.close());

const bash = (command: string) => ['bash', { command, description: 'A command.' }] as const;
const enforce = { guard: 'enforce', onUnavailable: 'deny' } as const;

/** Runs Copilot in a new home. */
async function run(turns: CopilotRun['turns'], options: Partial<CopilotRun> = {}) {
  const environment = service.environment(service.newFolder());
  const ended = await runCopilot({ environment, turns, hook: enforce, ...options });
  return { ...ended, file: join(String(environment.HOME), 'ran.txt') };
}

describe.skipIf(!copilotRuns())('the hook in the real Copilot, which its SDK starts', () => {
  test('records calls in the session of the SDK, with their statuses', async () => {
    const { sessionId, results } = await run([
      [bash('printf hi'), ['lookup', { id: 'u-1' }]],
      [bash('exit 3'), ['nowhere', {}], ['bash', {}], ['broken', { id: 'u-1' }]],
    ]);
    expect(results).toContain('found');
    await service.expectCalls(sessionId, [
      'copilot bash 200',
      'copilot bash 400',
      'copilot bash 500',
      'copilot broken 500',
      'copilot lookup 200',
      'copilot nowhere 404',
    ]);
    expect(JSON.stringify(await service.events(sessionId))).not.toContain('printf');
  });

  test('denies a call with the message of the policy', async () => {
    const match = { tools: ['bash', 'lookup'] };
    const archive = await service.policy({ name: 'no', effect: 'deny', match, message: 'Users stay.' });
    const { sessionId, results, file } = await run([[bash('touch ran.txt'), ['lookup', { id: 'u-1' }]]]);
    await archive();
    expect(results.filter((result) => result.includes('Users stay.'))).toHaveLength(2);
    expect(results).not.toContain('found');
    expect(existsSync(file)).toBe(false);
    await service.expectCalls(sessionId, ['copilot bash 403', 'copilot lookup 403']);
  });

  test.each([
    ['approve', true, 'copilot bash 200'],
    ['deny', false, 'copilot bash 403'],
  ] as const)('holds a call until a person decides: %s', async (decision, runs, line) => {
    const match = { tools: ['bash'] };
    const archive = await service.policy({ name: 'hold', effect: 'require_approval', match });
    let decided: Promise<void> | undefined;
    const { sessionId, file } = await run([[bash('touch ran.txt')]], {
      onSession: (id) => {
        decided = service.decide(id, decision);
      },
    });
    await decided;
    await archive();
    expect(existsSync(file)).toBe(runs);
    await service.expectCalls(sessionId, [line]);
  });

  test('runs the command that an approver changed', async () => {
    const archive = await service.changeable('bash');
    let decided: Promise<void> | undefined;
    const { sessionId, file } = await run([[bash('touch never.txt')]], {
      hook: { ...enforce, showArguments: 'command' },
      onSession: (id) => {
        decided = service.decide(id, 'approve', { command: 'touch ran.txt' });
      },
    });
    await decided;
    await archive();
    expect(existsSync(file)).toBe(true);
    expect(existsSync(file.replace('ran.txt', 'never.txt'))).toBe(false);
    await service.expectCalls(sessionId, ['copilot bash 200']);
    await service.expectChangedCall(sessionId);
  });

  test('leaves an allowed call to the permissions of the program', async () => {
    const { sessionId, file } = await run([[bash('touch ran.txt')]], {
      onPermissionRequest: () => ({ kind: 'reject' }),
    });
    expect(existsSync(file)).toBe(false);
    await service.expectCalls(sessionId, ['copilot bash 499']);
  });
});
