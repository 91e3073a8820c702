import type { Service } from '@actlog/adapter-suite';
import { hashArguments } from '@actlog/recorder';
import type { Options } from '@anthropic-ai/claude-agent-sdk';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { HookDriver } from '../tests/hook-driver.ts';
import { guarded, permissionService, recordedOutcomes } from '../tests/permission-service.ts';
import { actlog } from './index.ts';

let service: Service;
beforeAll(async () => {
  service = await permissionService();
});
afterAll(() => service.close());

test('does not run a changed call held when the query is aborted', async () => {
  const abortController = new AbortController();
  const canUseTool: Options['canUseTool'] = async () => ({ behavior: 'allow', updatedInput: { text: 'c' } });
  const options = actlog({ abortController, canUseTool }, { recorder: guarded(service) });
  const driver = new HookDriver(options);
  const call = { name: 'mcp__own__echo', input: { text: 'a' }, id: 'toolu_1' };
  await driver.before(call);
  const { signal } = new AbortController();
  const prompt = { signal, toolUseID: call.id, requestId: 'r' };
  const answer = options.canUseTool?.(call.name, call.input, prompt);
  const held = await service.held(driver.sessionId);
  abortController.abort();
  await service.client.guardian.pendingActions.decide(held.id, { decision: 'approve' });
  expect(await answer).toEqual({ behavior: 'deny', message: 'The run was ended.' });
  await driver.batch({ ...call, response: 'The run was ended.' });
  expect(await recordedOutcomes(service, driver.sessionId)).toEqual([
    [await hashArguments({ text: 'c' }), 499],
  ]);
});

test('does not call responseStatus for a call replaced by one with another input', async () => {
  const canUseTool: Options['canUseTool'] = async () => ({ behavior: 'allow', updatedInput: { text: 'd' } });
  const settings = { recorder: guarded(service), responseStatus: () => 218 };
  const options = actlog({ canUseTool }, settings);
  const driver = new HookDriver(options);
  const call = { name: 'mcp__own__echo', input: { text: 'a' }, id: 'toolu_2' };
  await driver.before(call);
  const { signal } = new AbortController();
  await options.canUseTool?.(call.name, call.input, { signal, toolUseID: call.id, requestId: 'r' });
  await driver.succeeded(call, 'echo: d');
  expect(await recordedOutcomes(service, driver.sessionId)).toEqual([
    [await hashArguments({ text: 'd' }), 218],
  ]);
});

/** Creates the prompt for a call of the main thread. */
function promptOf(id: string, signal = new AbortController().signal) {
  return { signal, toolUseID: id, requestId: 'r' };
}

test("records a user's denial that ends the turn, but not that of a withdrawn prompt", async () => {
  const canUseTool: Options['canUseTool'] = async () => ({
    behavior: 'deny',
    message: 'Stop.',
    interrupt: true,
  });
  const options = actlog({ canUseTool }, { recorder: guarded(service) });
  const driver = new HookDriver(options);
  const call = (id: string) => ({ name: 'mcp__own__echo', input: { text: id }, id });
  for (const id of ['toolu_1', 'toolu_2']) await driver.before(call(id));
  await options.canUseTool?.('mcp__own__echo', { text: 'toolu_1' }, promptOf('toolu_1'));
  expect(await recordedOutcomes(service, driver.sessionId)).toEqual([
    [await hashArguments({ text: 'toolu_1' }), 403],
  ]);
  await options.canUseTool?.('mcp__own__echo', { text: 'toolu_2' }, promptOf('toolu_2', AbortSignal.abort()));
  await driver.succeeded(call('toolu_2'), 'echo: toolu_2');
  expect(await recordedOutcomes(service, driver.sessionId)).toContainEqual([
    await hashArguments({ text: 'toolu_2' }),
    200,
  ]);
});

test('matches prompts of subagents with equal call ids', async () => {
  const canUseTool: Options['canUseTool'] = async (_name, input) => ({
    behavior: 'allow',
    updatedInput: { text: `${input.text}!` },
  });
  const options = actlog({ canUseTool }, { recorder: guarded(service) });
  const driver = new HookDriver(options);
  const agents = ['agent_1', 'agent_2'];
  const call = (agentID: string) => ({ name: 'mcp__own__echo', input: { text: agentID }, id: 'call_0' });
  for (const agentID of agents) await driver.subagent(agentID).before(call(agentID));
  for (const agentID of agents) {
    await options.canUseTool?.('mcp__own__echo', { text: agentID }, { ...promptOf('call_0'), agentID });
  }
  for (const agentID of agents) await driver.subagent(agentID).succeeded(call(agentID), 'done');
  expect(await recordedOutcomes(service, driver.sessionId)).toEqual([
    [await hashArguments({ text: 'agent_1!' }), 200],
    [await hashArguments({ text: 'agent_2!' }), 200],
  ]);
});
