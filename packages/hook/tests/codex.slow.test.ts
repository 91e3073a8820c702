import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, describe, expect, test } from 'vitest';
import { type CodexRun, codexRuns, runCodex } from './codex-run.ts';
import { HookService } from './hook-service.ts';

const service = await HookService.start();
afterAll(() => service.close());

const shell = (cmd: string) => ['exec_command', { cmd }] as const;
const enforce = { guard: 'enforce', onUnavailable: 'deny' } as const;

/** Runs Codex in a new home. */
async function run(turns: CodexRun['turns'], options: Partial<CodexRun> = {}) {
  const environment = service.environment(service.newFolder());
  const ended = await runCodex({ environment, turns, hook: enforce, ...options });
  return { ...ended, file: join(String(environment.HOME), 'ran.txt') };
}

describe.skipIf(!codexRuns())('the hook in the real Codex, which its SDK starts', () => {
  test('records calls in the session of the thread, with their statuses', async () => {
    const { sessionId, results } = await run([
      [shell('printf hi')],
      [shell('exit 3'), ['view_image', { path: '/nowhere.png' }]],
    ]);
    expect(results.get('call_0_0')).toContain('hi');
    // Codex reports no end of a tool of its own that failed.
    await service.expectCalls(sessionId, ['codex Bash 200', 'codex Bash 500', 'codex view_image 499']);
    expect(JSON.stringify(await service.events(sessionId))).not.toContain('printf');
  });

  test('denies a call with the message of the policy', async () => {
    const archive = await service.policy({
      name: 'no',
      effect: 'deny',
      match: { tools: ['Bash'] },
      message: 'No shell.',
    });
    const { sessionId, results, file } = await run([[shell('touch ran.txt')]]);
    await archive();
    expect(results.get('call_0_0')).toMatch(/The call of the tool .*Bash.* was not run: .*No shell\./);
    expect(existsSync(file)).toBe(false);
    await service.expectCalls(sessionId, ['codex Bash 403']);
  });

  test.each([
    ['approve', true, 'codex Bash 200'],
    ['deny', false, 'codex Bash 403'],
  ] as const)('holds a call until a person decides: %s', async (decision, runs, line) => {
    const archive = await service.policy({
      name: 'hold',
      effect: 'require_approval',
      match: { tools: ['Bash'] },
    });
    let decided: Promise<void> | undefined;
    const { sessionId, file } = await run([[shell('touch ran.txt')]], {
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
    const archive = await service.changeable('Bash');
    let decided: Promise<void> | undefined;
    const { sessionId, file } = await run([[shell('touch never.txt')]], {
      hook: { ...enforce, showArguments: 'command' },
      onSession: (id) => {
        decided = service.decide(id, 'approve', { command: 'touch ran.txt' });
      },
    });
    await decided;
    await archive();
    expect(existsSync(file)).toBe(true);
    expect(existsSync(file.replace('ran.txt', 'never.txt'))).toBe(false);
    await service.expectCalls(sessionId, ['codex Bash 200']);
    await service.expectChangedCall(sessionId);
  });
});
