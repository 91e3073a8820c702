import { fork } from 'node:child_process';
import { once } from 'node:events';
import { fileURLToPath } from 'node:url';
import { afterAll, expect, test } from 'vitest';
import { actlogScript } from './actlog-script.ts';
import { claudeEvents, newCall } from './agent-events.ts';
import { delivered, type HookResult, runHook, startHook } from './hook-process.ts';
import { HookService } from './hook-service.ts';

const service = await HookService.start();
afterAll(async () => {
  await delivered();
  await service.close();
});

const program = (name: string) => fileURLToPath(new URL(`./programs/${name}`, import.meta.url));
const { before, succeeded, prompt, sessionStart } = claudeEvents;
const sessionEnd = (id: string) => ({ ...prompt(id), hook_event_name: 'SessionEnd', reason: 'other' });

/** Time limit of a test that runs dozens of processes, in milliseconds. */
const manyProcessesMs = 240_000;

/** Variables with which a process kills itself before its nth change on disk. */
function killedBefore(write: number, environment: Record<string, string>): Record<string, string> {
  return {
    ...environment,
    NODE_OPTIONS: `${environment.NODE_OPTIONS} --import=${program('kill-before-write.ts')}`,
    // Compiled code is written too.
    NODE_DISABLE_COMPILE_CACHE: '1',
    KILL_BEFORE_WRITE: String(write),
  };
}

/**
 * Runs a hook once for each of its changes on disk, killed before that, and once to its end.
 *
 * @param run - starts the hook in the given environment
 * @param check - what must hold afterwards
 */
async function killBeforeEachWrite(
  run: (environment: Record<string, string>, write: number) => Promise<HookResult>,
): Promise<number> {
  for (let write = 1; write < 100; write += 1) {
    const environment = service.environment(service.newFolder());
    const { signal } = await run(environment, write);
    if (signal === null) return write - 1;
  }
  throw new Error('The hook never reached its end.');
}

test('records a call once when the hook after it is killed before any change on disk', {
  timeout: manyProcessesMs,
}, async () => {
  const kills = await killBeforeEachWrite(async (environment, write) => {
    const call = newCall();
    await runHook(['claude-code'], before(call), environment);
    const killed = startHook(['claude-code'], succeeded(call), killedBefore(write, environment));
    const result = await killed.result;
    await runHook(['claude-code'], sessionEnd(call.sessionId), environment);
    await expect
      .poll(() => service.calls(call.sessionId), { message: `killed before change ${write}` })
      .toEqual([expect.stringMatching(/^claude-code Bash (200|499)$/)]);
    return result;
  });
  expect(kills).toBeGreaterThan(5);
});

test('records a call once when the hook before it is killed before any change on disk', {
  timeout: manyProcessesMs,
}, async () => {
  const kills = await killBeforeEachWrite(async (environment, write) => {
    const call = newCall();
    const killed = startHook(['claude-code'], before(call), killedBefore(write, environment));
    const result = await killed.result;
    await runHook(['claude-code'], succeeded(call), environment);
    await runHook(['claude-code'], sessionEnd(call.sessionId), environment);
    await expect
      .poll(() => service.calls(call.sessionId), { message: `killed before change ${write}` })
      .toEqual(['claude-code Bash 200']);
    return result;
  });
  expect(kills).toBeGreaterThan(2);
});

test('records the calls of an agent that was killed, at the start of the next session', async () => {
  const environment = service.environment(service.newFolder());
  const call = newCall();
  const agent = fork(
    program('killed-agent.ts'),
    [JSON.stringify(before(call)), actlogScript, 'hook', 'claude-code'],
    { env: environment, execArgv: [] },
  );
  expect(await once(agent, 'message')).toEqual([0, undefined]);
  const running = newCall();
  await runHook(['claude-code'], before(running), environment);
  agent.kill('SIGKILL');
  await once(agent, 'exit');
  await runHook(['claude-code'], sessionStart(newCall().sessionId), environment);
  await expect.poll(() => service.calls(call.sessionId)).toEqual(['claude-code Bash 499']);
  // This process, which stands for another agent, is alive.
  expect(await service.calls(running.sessionId)).toEqual([]);
});

test('delivers after an outage what hooks recorded meanwhile', async () => {
  const environment = service.environment(service.newFolder());
  const call = newCall();
  const rejecting = {
    ...environment,
    ACTLOG_API_KEY: `${environment.ACTLOG_API_KEY}0`,
    ACTLOG_TENANT: 'one',
  };
  const { stderr } = await runHook(['claude-code'], succeeded(call), rejecting);
  expect(stderr).toBe('');
  // The delivery, in the background, notes that the key is rejected.
  await expect
    .poll(async () => (await runHook(['claude-code'], sessionStart(call.sessionId), rejecting)).output)
    .toEqual({
      systemMessage: expect.stringMatching(/^actlog: The service at .* rejects events: HTTP 401.*API key/),
    });
  const accepted = { ...environment, ACTLOG_TENANT: 'one' };
  // The failed delivery may still be about to end, and then a later hook starts the next.
  await expect
    .poll(async () => {
      await runHook(['claude-code'], sessionStart(call.sessionId), accepted);
      return service.calls(call.sessionId);
    })
    .toEqual(['claude-code Bash 200']);
});
