import { Service } from '@actlog/adapter-suite';
import { afterAll, beforeAll, expect, test, vi } from 'vitest';
import { start } from 'workflow/api';
import type { Turns } from './project/model.ts';
import { startProject } from './project.ts';

let service: Service;
let end: (() => Promise<void>) | undefined;
beforeAll(async () => {
  service = await Service.start();
  await service.denyTool('remove', 'Users stay.');
  await service.holdTool('send');
  vi.stubEnv('ACTLOG_BASE_URL', service.url);
  vi.stubEnv('ACTLOG_API_KEY', service.apiKey);
  end = await startProject();
});
afterAll(async () => {
  await end?.();
  vi.unstubAllEnvs();
  await service.close();
});

/** Starts a workflow of the project, as its compiler names it. */
const started = (name: 'agent' | 'turn', turns: Turns) =>
  start<[Turns], string>({ workflowId: `workflow//./workflows//${name}` }, [turns]);

for (const name of ['agent', 'turn'] as const) {
  test(`records the tools of the workflow "${name}" in the session of its run`, async () => {
    const run = await started(name, [['read'], ['read']]);
    expect(await run.returnValue).toContain('read: done');
    expect(await service.callLines(run.runId)).toEqual(['support read 200', 'support read 200']);
  });

  test(`denies a call of the workflow "${name}" once, and tells the model why`, async () => {
    const run = await started(name, [['remove', 'read']]);
    const read = await run.returnValue;
    expect(read).toContain('read: done');
    expect(read).toContain('Users stay.');
    expect(read).not.toContain('remove: done');
    expect((await service.callLines(run.runId)).sort()).toEqual(['support read 200', 'support remove 403']);
  });

  test(`holds a call of the workflow "${name}" until a person approves it`, async () => {
    const run = await started(name, [['send']]);
    await service.decide(run.runId, 'approve');
    expect(await run.returnValue).toContain('send: done');
    expect(await service.callLines(run.runId)).toEqual(['support send 200']);
  });
}

test('records each attempt of a step whose tool fails', async () => {
  const run = await started('agent', [['fail']]);
  expect(await run.returnValue).toContain('No u-1.');
  expect(await service.callLines(run.runId)).toEqual(['support fail 500', 'support fail 500']);
});
