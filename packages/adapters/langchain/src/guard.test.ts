import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { createAgent } from 'langchain';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { inThread, modelOf, question, toolAnswers, tools } from '../tests/agent.ts';
import { Service } from '../tests/service.ts';
import { actlog } from './index.ts';

let service: Service;
beforeAll(async () => {
  service = await Service.start();
  const { policies } = service.client;
  await policies.create({ name: 'no', effect: 'deny', match: { tools: ['fail'] }, message: 'Never fail.' });
  await policies.create({ name: 'ask', effect: 'require_approval', match: { tools: ['echo'] } });
});
afterAll(() => service.close());

/** An agent whose calls are checked first. */
function guardedAgent(name: 'echo' | 'fail', recorder = service.guarded()) {
  const { echo, fail, ran } = tools();
  const model = modelOf([[{ name, args: name === 'echo' ? { text: 'x' } : {} }]]);
  return { ran, agent: createAgent({ model, tools: [echo, fail], middleware: [actlog({ recorder })] }) };
}

test('a denied call does not run: one 403 event, the model is told, the run goes on', async () => {
  const { agent, ran } = guardedAgent('fail');
  const result = await agent.invoke(question, inThread('deny'));
  expect(ran).toEqual([]);
  expect(toolAnswers(result)).toMatchObject([{ status: 'error' }]);
  // The words of the denial alone: LangChain's "fix your mistakes" would ask the model to try again.
  expect(toolAnswers(result)[0]?.text).toMatch(
    /^The call of the tool "fail" was not run: .*Never fail\..*tell the user\.$/,
  );
  expect(result.messages.at(-1)?.text).toBe('done');
  expect(await service.events('deny')).toMatchObject([{ toolName: 'fail', status: 403 }]);
});

test('held, then approved: it runs', async () => {
  const { agent, ran } = guardedAgent('echo');
  const run = agent.invoke(question, inThread('approved'));
  await service.decide('approved', 'approve');
  expect(toolAnswers(await run)).toEqual([{ text: 'echo: x', status: 'success' }]);
  expect(ran).toEqual(['echo x']);
  expect((await service.events('approved')).filter(({ status }) => status === 200)).toHaveLength(1);
});

test('held, then denied: it never runs', async () => {
  const { agent, ran } = guardedAgent('echo');
  const run = agent.invoke(question, inThread('refused'));
  await service.decide('refused', 'deny');
  expect(toolAnswers(await run)).toMatchObject([{ status: 'error' }]);
  expect(ran).toEqual([]);
  expect(await service.events('refused')).toContainEqual(expect.objectContaining({ status: 403 }));
});

test('held, then aborted: it never runs, though it is approved later', async () => {
  const { agent, ran } = guardedAgent('echo');
  const controller = new AbortController();
  const run = agent.invoke(question, { ...inThread('aborted'), signal: controller.signal });
  const { pendingActions } = service.client.guardian;
  const held = async () => (await pendingActions.list({ sessionId: 'aborted' }).toArray({ limit: 1 }))[0];
  let action = await held();
  while (!action) action = await held();
  controller.abort();
  await expect(run).rejects.toThrow();
  await pendingActions.decide(action.id, { decision: 'approve' });
  expect(await service.events('aborted')).toContainEqual(expect.objectContaining({ status: 499 }));
  expect(ran).toEqual([]);
});

test.each(['allow', 'deny'] as const)('with the service down, onUnavailable "%s" decides', async (choice) => {
  const server = createServer().listen(0, '127.0.0.1');
  await new Promise((resolve) => server.once('listening', resolve));
  const { port } = server.address() as AddressInfo;
  await new Promise((resolve) => server.close(resolve));
  const client = service.client.withOptions({ baseURL: `http://127.0.0.1:${port}`, maxRetries: 0 });
  const recorder = service.recorder({
    client,
    spool: false,
    onError: () => {},
    onDrop: () => {},
    guard: { mode: 'enforce', onUnavailable: choice },
  });
  const { agent, ran } = guardedAgent('echo', recorder);
  const result = await agent.invoke(question, inThread(`down-${choice}`));
  expect(ran).toEqual(choice === 'allow' ? ['echo x'] : []);
  expect(toolAnswers(result)[0]?.status).toBe(choice === 'allow' ? 'success' : 'error');
  await recorder.close({ timeoutMs: 0 });
});

test('a guard beside a recorder is refused, because it would guard nothing', () => {
  const recorder = service.recorder();
  expect(() => actlog({ recorder, guard: { mode: 'enforce', onUnavailable: 'deny' } })).toThrow(
    /guard: it belongs/,
  );
});
