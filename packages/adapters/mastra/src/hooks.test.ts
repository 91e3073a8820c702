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

/** Runs an agent with `hooks`, and with `runHooks` for the run. */
async function run(session: string, hooks: ToolHooks, runHooks: ToolHooks = {}, turns: Turns = echoing) {
  const { echo, fail, ran } = tools();
  const { agent, model } = agentOf({ turns, tools: { echo, fail }, hooks });
  await agent.generate('go', { ...inThread(session), hooks: runHooks });
  const events = await service.events(session);
  return {
    ran,
    toolResults: model.toolResults().map(({ text }) => text),
    statuses: events.map(({ status }) => status),
  };
}

test('records the end of a call despite run hooks, which are called too', async () => {
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

test('records around a run hook that replaces the guard; around() keeps both', async () => {
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

test("passes only the denial's message to the model", async () => {
  const turns = [[{ name: 'fail', args: {} }]];
  const { toolResults } = await run('denied', actlog({ recorder: service.guarded() }), {}, turns);
  expect(toolResults).toEqual([
    expect.stringMatching(/^The call of the tool "fail" was not run: .*Never fail\..*tell the user\.$/),
  ]);
});

test("runs the user's hooks first, then checks the remaining calls", async () => {
  const recorder = service.guarded();
  const replacing: ToolHooks = { beforeToolCall: () => ({ proceed: false, output: 'from memory' }) };
  const replaced = await run(
    'replaced-result',
    actlog.around(actlog.around(replacing, { recorder }), { recorder }),
  );
  expect(replaced).toEqual({ ran: [], toolResults: ['from memory'], statuses: [200] });
  const throwing: ToolHooks = {
    beforeToolCall: () => {
      throw Object.assign(new Error('Not now.'), { status: 409 });
    },
  };
  const thrown = await run('thrown', actlog.around(actlog.around(throwing, { recorder }), { recorder }));
  expect(thrown).toEqual({ ran: [], toolResults: ['Not now.'], statuses: [409] });
  const turns = [[{ name: 'fail', args: {} }]];
  const denied = await run('twice', actlog.around(actlog({ recorder }), { recorder }), {}, turns);
  expect(denied).toMatchObject({ ran: [], statuses: [403] });
});

test('records the same if a user hook throws after the call', async () => {
  const throwing: ToolHooks = {
    afterToolCall: () => {
      throw new Error('I broke.');
    },
  };
  const bare = await run('own-after', throwing);
  const recorded = await run('own-after', actlog.around(throwing, { recorder: service.recorder() }));
  expect(recorded.toolResults).toEqual(bare.toolResults);
  expect(recorded.statuses).toEqual([200]);
});

test('calls user hooks for excluded tools', async () => {
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

test("hashes the model's arguments without schema defaults", async () => {
  await run('raw', actlog({ recorder: service.recorder() }));
  const [event] = await service.storedEvents('raw');
  expect(event?.payload?.argumentsHash).toBe(await hashArguments({ text: 'a' }));
});
