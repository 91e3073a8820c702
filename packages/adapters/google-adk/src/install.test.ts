import { Service, secondCopy } from '@actlog/adapter-suite';
import { type BaseAgent, FunctionTool, InMemoryRunner, LlmAgent, Runner } from '@google/adk';
import { afterAll, beforeAll, expect, onTestFinished, test } from 'vitest';
import { lastWords, modelOf, runAgent, startSession, tools } from '../tests/agent.ts';
import { type ActlogOptions, actlog } from './index.ts';

let service: Service;
beforeAll(async () => {
  service = await Service.start();
  await service.denyTool('fail');
  await service.holdTool('held');
});
afterAll(() => service.close());

const echo = { name: 'echo', args: { text: 'x' } };
const fail = { name: 'fail', args: {} };

function install(options: ActlogOptions): () => void {
  const stop = actlog.install(options);
  onTestFinished(stop);
  return stop;
}

function agentOf(name: string, turns: Parameters<typeof modelOf>[0]) {
  const { ran, ...own } = tools();
  const held = new FunctionTool({
    name: 'held',
    description: 'Waits.',
    execute: () => {
      ran.push('held');
      return 'done by a person';
    },
  });
  return { ran, agent: new LlmAgent({ name, model: modelOf(turns), tools: [own.echo, own.fail, held] }) };
}

/** Creates a tool whose function runs an agent with a runner and a session of its own. */
function running(agent: BaseAgent, runner = new InMemoryRunner({ agent })) {
  return new FunctionTool({
    name: 'ask',
    description: 'Asks the inner agent.',
    execute: async () => {
      const newMessage = { role: 'user', parts: [{ text: 'go' }] };
      for await (const _ of runner.runEphemeral({ userId: 'tool', newMessage }));
      return 'asked';
    },
  });
}

test('covers runners that were created before, until it is stopped', async () => {
  const { agent, ran } = agentOf('old', [[echo, fail], [], [echo]]);
  const { send } = await startSession(agent, { sessionId: 'before' });
  const stop = install({ recorder: service.guarded() });
  await send({ text: 'go' });
  expect(ran).toEqual(['echo x']);
  stop();
  await send({ text: 'go on' });
  expect(ran).toEqual(['echo x', 'echo x']);
  expect((await service.callLines('before')).sort()).toEqual(['old echo 200', 'old fail 403']);
});

test('holds a call until a person decides', async () => {
  const { agent, ran } = agentOf('patient', [[{ name: 'held', args: {} }]]);
  install({ recorder: service.guarded() });
  const run = runAgent(agent, { sessionId: 'held' });
  await service.held('held');
  expect(ran).toEqual([]);
  await service.decide('held', 'approve');
  await run;
  expect(ran).toEqual(['held']);
  expect(await service.callLines('held')).toEqual(['patient held 200']);
});

test('leaves runners with their own plugin to that, also what it excludes', async () => {
  const recorder = service.recorder();
  install({ recorder, sessionId: 'of-process' });
  const { agent } = agentOf('own', [[echo, fail]]);
  await runAgent(agent, { sessionId: 'nearer', plugins: [actlog({ recorder, exclude: ['fail'] })] });
  expect(await service.callLines('nearer')).toEqual(['own echo 200']);
  expect(await service.events('of-process')).toEqual([]);
});

test('applies the last of several installs, and counts each call once with a second copy', async () => {
  const recorder = service.recorder();
  const copy = await secondCopy(() => import('./index.ts'));
  install({ recorder, agentId: 'first' });
  const stop = copy.actlog.install({ recorder, agentId: 'second' });
  onTestFinished(stop);
  await runAgent(agentOf('any', [[echo]]).agent, { sessionId: 'installs' });
  stop();
  await runAgent(agentOf('any', [[echo]]).agent, { sessionId: 'installs' });
  expect(await service.callLines('installs')).toEqual(['second echo 200', 'first echo 200']);
});

test.each(['process', 'plugin'])('covers runners that the function of a tool starts: %s', async (place) => {
  const recorder = service.guarded();
  if (place === 'process') install({ recorder });
  const { agent: inner, ran } = agentOf('inner', [[echo, fail], [], [echo]]);
  const runner = new InMemoryRunner({ agent: inner });
  const outer = new LlmAgent({
    name: 'outer',
    model: modelOf([[{ name: 'ask', args: {} }]]),
    tools: [running(inner, runner)],
  });
  const sessionId = `in-function-${place}`;
  const plugins = place === 'plugin' ? [actlog({ recorder })] : [];
  await runAgent(outer, { sessionId, plugins });
  expect(ran).toEqual(['echo x']);
  const lines = await service.callLines(sessionId);
  expect(lines.sort()).toEqual(['inner echo 200', 'inner fail 403', 'outer ask 200']);
  expect(runner.pluginManager.hasPlugins).toBe(false);
  expect(runner).toBeInstanceOf(Runner);
});

test('covers runners that a callback of a covered run starts, in its session', async () => {
  const { agent: inner, ran } = agentOf('inner', [[echo, fail]]);
  const agent = new LlmAgent({
    name: 'outer',
    model: modelOf([]),
    afterAgentCallback: async () => {
      await running(inner).runAsync({ args: {}, toolContext: undefined as never });
      return undefined;
    },
  });
  const plugins = [actlog({ recorder: service.guarded() })];
  const events = await runAgent(agent, { sessionId: 'in-callback', plugins });
  expect(ran).toEqual(['echo x']);
  expect((await service.callLines('in-callback')).sort()).toEqual(['inner echo 200', 'inner fail 403']);
  expect(lastWords(events)).toBe('done');
  await running(inner).runAsync({ args: {}, toolContext: undefined as never }); // of its own
  expect(await service.events('in-callback')).toHaveLength(2);
});

test('ends a run whose reader stops', async () => {
  const { agent } = agentOf('left', [[echo], [echo]]);
  install({ recorder: service.recorder() });
  const runner = new InMemoryRunner({ agent });
  const newMessage = { role: 'user', parts: [{ text: 'go' }] };
  let count = 0;
  for await (const { content } of runner.runEphemeral({ userId: 'user', newMessage })) {
    count += 1;
    if (content?.parts?.some(({ functionResponse }) => functionResponse)) break;
  }
  expect(count).toBe(2);
  await service.events('none');
  const [session] = await service.client.agents.sessions('left').toArray({ limit: 2 });
  expect(session?.eventCount).toBe(1);
});

test('ends the run of an agent whose model repeats an agent that is always denied', async () => {
  const inner = () => agentOf('inner', Array(100).fill([fail])).agent;
  const ask = new FunctionTool({
    name: 'ask',
    description: 'Asks a new agent.',
    execute: () => running(inner()).runAsync({ args: {}, toolContext: undefined as never }),
  });
  const outer = new LlmAgent({
    name: 'outer',
    model: modelOf(Array(100).fill([{ name: 'ask', args: {} }])),
    tools: [ask],
  });
  install({ recorder: service.guarded() });
  const events = await runAgent(outer, { sessionId: 'nested' });
  expect(lastWords(events)).toContain('The run was ended because the model repeated the call.');
  const denied = (await service.events('nested')).filter(({ toolName }) => toolName === 'fail');
  expect(denied).toHaveLength(25);
});
