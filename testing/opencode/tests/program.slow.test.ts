import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { Service } from '@actlog/adapter-suite';
import { afterAll, beforeAll, expect, onTestFinished, test } from 'vitest';
import { Model, type Scripts } from './model.ts';
import { opencodePath, Project } from './program.ts';

const guard = { mode: 'enforce', onUnavailable: 'deny' };
const program = opencodePath();

let service: Service;
beforeAll(async () => {
  service = await Service.start();
  await service.denyTool('glob', 'No globbing.');
  await service.holdTool('write');
});
afterAll(() => service.close());

/** Creates a project with a scripted model. */
async function projectWith(scripts: Scripts, options: Record<string, unknown> = { guard }) {
  const model = await Model.start(scripts);
  const project = await Project.create(program as string, { model, service, options });
  onTestFinished(async () => {
    await project.remove();
    await model.close();
  });
  return { model, project };
}

/** Returns the only session of an agent, whose events have arrived. */
async function sessionOf(agentId: string): Promise<string> {
  const sessions = await service.client.agents.sessions(agentId).toArray({ limit: 10 });
  expect(sessions).toHaveLength(1);
  return String(sessions[0]?.id);
}

const bash = (command: string) => ['bash', { command, description: 'A command.' }] as const;

test.skipIf(!program)('records and guards the calls of opencode and of its subagents', async () => {
  const task = { description: 'sub', prompt: 'SUB', subagent_type: 'general' };
  const { model, project } = await projectWith({
    MAIN: [
      [bash('echo one'), ['glob', { pattern: '*' }]],
      [['nowhere', {}], ['bash', { cmd: 1 }], bash('exit 3')],
      [['task', task]],
    ],
    SUB: [[bash('echo sub'), ['glob', { pattern: '*' }]]],
  });
  const printed = await project.run('MAIN');
  expect(printed).toContain('done');
  const session = await sessionOf('opencode');
  expect((await service.callLines(session)).sort()).toEqual([
    'opencode bash 200',
    'opencode bash 200',
    'opencode bash 400',
    'opencode bash 500',
    'opencode glob 403',
    'opencode glob 403',
    'opencode nowhere 404',
    'opencode task 200',
  ]);
  expect((await service.innerCalls(session)).sort()).toEqual([
    'opencode · general: bash',
    'opencode · general: glob',
  ]);
  expect([...model.toolResults].filter((text) => text.includes('No globbing.'))).not.toEqual([]);
  const stored = JSON.stringify(await service.storedEvents(session));
  expect(stored).not.toContain('echo one');
});

test.skipIf(!program)('holds a call: approved it runs once, aborted it never runs', async () => {
  const files = ['approved.txt', 'aborted.txt'];
  const write = (name: string) => ['write', { filePath: join(project.folder, name), content: 'x' }] as const;
  const scripts: Record<string, (readonly [ReturnType<typeof write>])[]> = {};
  const { project } = await projectWith(scripts, { guard, agentId: 'holding' });
  for (const name of files) scripts[name] = [[write(name)]];
  const post = await project.serve();
  const prompted = async (text: string) => {
    const { id } = (await post('/session')) as { id: string };
    const run = post(`/session/${id}/message`, { parts: [{ type: 'text', text }] });
    return { id, run, held: await service.held(id) };
  };
  const approved = await prompted('approved.txt');
  await service.client.guardian.pendingActions.decide(approved.held.id, { decision: 'approve' });
  await approved.run;
  const aborted = await prompted('aborted.txt');
  await post(`/session/${aborted.id}/abort`);
  await aborted.run;
  await service.client.guardian.pendingActions
    .decide(aborted.held.id, { decision: 'approve' })
    .catch(() => {});
  await project.stop();
  expect(files.map((name) => existsSync(join(project.folder, name)))).toEqual([true, false]);
  expect(await service.callLines(approved.id)).toEqual(['holding write 200']);
  expect(await service.callLines(aborted.id)).toEqual(['holding write 499']);
});

test.skipIf(!program)('ends the run of a model that always repeats a denied call', async () => {
  const turns = Array.from({ length: 30 }, () => [['glob', { pattern: '*' }] as const]);
  const { project } = await projectWith({ ENDLESS: turns }, { guard, agentId: 'endless' });
  await project.run('ENDLESS');
  const lines = await service.callLines(await sessionOf('endless'));
  expect(lines).toEqual(Array.from({ length: 5 }, () => 'endless glob 403'));
});
