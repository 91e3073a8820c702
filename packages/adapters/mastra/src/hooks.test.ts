import { Service } from '@actlog/adapter-suite';
import { hashArguments } from '@actlog/recorder';
import type { ToolHooks } from '@mastra/core/tools';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { agentOf, inThread, tools } from '../tests/agent.ts';
import type { Turns } from '../tests/model.ts';
import { actlog } from './index.ts';

let service: Service;
beforeAll(async () => {
  service = await Service.start();
  await service.client.policies.create({
    name: 'no',
    effect: 'deny',
    match: { tools: ['fail'] },
    message: 'Never fail.',
  });
});
afterAll(() => service.close());

const echoing = [[{ name: 'echo', args: { text: 'a' } }]];

/** An agent with `hooks`, run once with the hooks of `runHooks`. */
async function run(session: string, hooks: ToolHooks, runHooks: ToolHooks = {}, turns: Turns = echoing) {
  const { echo, fail, ran } = tools();
  const { agent, model } = agentOf({ turns, tools: { echo, fail }, hooks });
  await agent.generate('go', { ...inThread(session), hooks: runHooks });
  const events = await service.events(session);
  return {
    ran,
    answers: model.answers().map(({ text }) => text),
    statuses: events.map(({ status }) => status),
  };
}

test('hooks of a run in between do not lose the end of a call, and are heard', async () => {
  const heard: unknown[] = [];
  const afterToolCall: ToolHooks['afterToolCall'] = ({ output }) => void heard.push(output);
  const hooks = actlog({ recorder: service.recorder() });
  expect((await run('after-of-a-run', hooks, { afterToolCall })).statuses).toEqual([200]);
  expect((await run('after-of-a-run', hooks)).statuses).toEqual([200, 200]);
  const spread = { ...actlog({ recorder: service.recorder() }), afterToolCall };
  expect((await run('spread', spread)).statuses).toEqual([200]);
  expect((await run('spread', spread)).statuses).toEqual([200, 200]);
  expect(heard).toEqual(['echo: a', 'echo: a', 'echo: a']);
});

test('a hook of a run that takes the place of the guard is recorded around, and around() keeps both', async () => {
  const failing = [[{ name: 'fail', args: {} }]];
  const heard: string[] = [];
  const own: ToolHooks = { beforeToolCall: ({ toolName }) => void heard.push(toolName) };
  const adapter = { recorder: service.guarded() };
  const replaced = await run('replaced', actlog(adapter), own, failing);
  expect(replaced).toMatchObject({ ran: ['fail'], statuses: [502] });
  const kept = await run('kept', actlog(adapter), actlog.around(own, adapter), failing);
  expect(kept).toMatchObject({ ran: [], statuses: [403] });
  expect(heard).toEqual(['fail', 'fail']);
});

test('a denial is told in its own words alone', async () => {
  const turns = [[{ name: 'fail', args: {} }]];
  const { answers } = await run('denied', actlog({ recorder: service.guarded() }), {}, turns);
  expect(answers).toEqual([
    expect.stringMatching(/^The call of the tool "fail" was not run: .*Never fail\..*tell the user\.$/),
  ]);
});

test("the user's own hooks answer first, and the guard is asked about what is left", async () => {
  const recorder = service.guarded();
  const answering: ToolHooks = { beforeToolCall: () => ({ proceed: false, output: 'from memory' }) };
  const answered = await run('answered', actlog.around(actlog.around(answering, { recorder }), { recorder }));
  expect(answered).toEqual({ ran: [], answers: ['from memory'], statuses: [200] });
  const throwing: ToolHooks = {
    beforeToolCall: () => {
      throw Object.assign(new Error('Not now.'), { status: 409 });
    },
  };
  const thrown = await run('thrown', actlog.around(actlog.around(throwing, { recorder }), { recorder }));
  expect(thrown).toEqual({ ran: [], answers: ['Not now.'], statuses: [409] });
  const turns = [[{ name: 'fail', args: {} }]];
  const denied = await run('twice', actlog.around(actlog({ recorder }), { recorder }), {}, turns);
  expect(denied).toMatchObject({ ran: [], statuses: [403] });
});

test('an own hook that throws after the call changes what it did before, and not what is recorded', async () => {
  const throwing: ToolHooks = {
    afterToolCall: () => {
      throw new Error('I broke.');
    },
  };
  const bare = await run('own-after', throwing);
  const recorded = await run('own-after', actlog.around(throwing, { recorder: service.recorder() }));
  expect(recorded.answers).toEqual(bare.answers);
  expect(recorded.statuses).toEqual([200]);
});

test('own hooks hear of tools that are left out', async () => {
  const heard: string[] = [];
  const own: ToolHooks = {
    beforeToolCall: ({ toolName }) => void heard.push(`before ${toolName}`),
    afterToolCall: ({ toolName }) => void heard.push(`after ${toolName}`),
  };
  const { statuses } = await run(
    'left-out',
    actlog.around(own, { recorder: service.recorder(), include: [] }),
  );
  expect(statuses).toEqual([]);
  expect(heard).toEqual(['before echo', 'after echo']);
});

test('arguments are hashed as the model gave them, without the defaults of the schema', async () => {
  await run('raw', actlog({ recorder: service.recorder() }));
  const [event] = await service.storedEvents('raw');
  expect(event?.payload?.argumentsHash).toBe(await hashArguments({ text: 'a' }));
});
