import { Service } from '@actlog/adapter-suite';
import { hashArguments } from '@actlog/recorder';
import {
  Agent,
  type AgentOutputItem,
  handoff,
  MemorySession,
  RunState,
  run,
  shellTool,
  tool,
} from '@openai/agents';
import { assistantMessage, functionCall, ScriptedModel } from '@openai/agents/testing';
import { afterAll, beforeAll, expect, test } from 'vitest';
import * as z from 'zod';
import { tools } from '../tests/agent.ts';
import { actlog } from './index.ts';

let service: Service;
beforeAll(async () => {
  service = await Service.start();
});
afterAll(() => service.close());

const inSession = (sessionId: string) => ({ session: new MemorySession({ sessionId }) });

/** Creates a call as the SDK reads it from the Responses API. */
function hosted(id: string, providerData: Record<string, unknown>, status = 'completed'): AgentOutputItem {
  return { type: 'hosted_tool_call', id, name: String(providerData.type), status, providerData };
}

const search = hosted('ws_1', {
  type: 'web_search_call',
  id: 'ws_1',
  action: { type: 'search', query: 'weather' },
});
const mcpCall = hosted('mcp_1', {
  type: 'mcp_call',
  id: 'mcp_1',
  name: 'find_issue',
  server_label: 'tracker',
  arguments: '{"id":7}',
});
const failed = hosted(
  'ci_1',
  { type: 'code_interpreter_call', id: 'ci_1', code: 'boom()', outputs: [] },
  'failed',
);
const listing = hosted('mcpl_1', { type: 'mcp_list_tools', id: 'mcpl_1', server_label: 'tracker' });

const hostedTools = [
  { type: 'hosted_tool' as const, name: 'web_search', providerData: { type: 'web_search' } },
  { type: 'hosted_tool' as const, name: 'code_interpreter', providerData: { type: 'code_interpreter' } },
  {
    type: 'hosted_tool' as const,
    name: 'hosted_mcp',
    providerData: { type: 'mcp' as const, server_label: 'tracker', server_url: 'https://tracker.example' },
  },
];

function searcher(steps: ConstructorParameters<typeof ScriptedModel>[0]) {
  const agent = new Agent({ name: 'searcher', model: new ScriptedModel(steps), tools: [...hostedTools] });
  return actlog(agent, { recorder: service.recorder() });
}

test.each([false, true])('records provider calls from the run, streamed: %s', async (isStreamed) => {
  const sessionId = `hosted-${isStreamed}`;
  const agent = searcher([[listing, search, mcpCall, failed, assistantMessage('done')]]);
  if (isStreamed) await (await run(agent, 'go', { ...inSession(sessionId), stream: true })).completed;
  else await run(agent, 'go', inSession(sessionId));
  expect(await service.events(sessionId)).toEqual([
    { sessionId, agentId: 'searcher', toolName: 'web_search', status: 200 },
    { sessionId, agentId: 'searcher', toolName: 'find_issue', status: 200 },
    { sessionId, agentId: 'searcher', toolName: 'code_interpreter', status: 500 },
  ]);
  const hashes = (await service.storedEvents(sessionId)).map(({ payload }) => payload?.argumentsHash);
  expect(hashes).toEqual([
    await hashArguments({ action: { type: 'search', query: 'weather' } }),
    await hashArguments({ id: 7 }),
    await hashArguments({ code: 'boom()' }),
  ]);
});

test('records a command of a hosted shell with the status of its end', async () => {
  const turn = [0, 1].flatMap((exitCode) => {
    const shell = { callId: `sh_${exitCode}`, status: 'completed' as const };
    const outcome = { type: 'exit' as const, exitCode };
    return [
      { ...shell, type: 'shell_call' as const, action: { commands: ['ls'] } },
      { ...shell, type: 'shell_call_output' as const, output: [{ stdout: '', stderr: '', outcome }] },
    ];
  });
  const agent = searcher([[...turn, assistantMessage('done')] as AgentOutputItem[]]);
  agent.tools.push(shellTool({ environment: { type: 'container_auto' } }));
  await run(agent, 'go', inSession('hosted-shell'));
  const events = await service.events('hosted-shell');
  expect(events.map(({ toolName, status }) => `${toolName} ${status}`)).toEqual(['shell 200', 'shell 500']);
});

test('records provider calls that a handoff removes from the history', async () => {
  const next = new Agent({ name: 'next', model: new ScriptedModel([[assistantMessage('done')]]) });
  const agent = searcher([[search, functionCall('transfer_to_next', {}, { callId: 'h' })]]);
  agent.handoffs = [
    handoff(next, { inputFilter: (data) => ({ ...data, preHandoffItems: [], newItems: [] }) }),
  ];
  await run(agent, 'go', inSession('filtered'));
  expect(await service.events('filtered')).toMatchObject([{ toolName: 'web_search', status: 200 }]);
});

test('records provider calls of a run that fails', async () => {
  const agent = searcher([[search, functionCall('echo', { text: 'x' }, { callId: 'e' })]]);
  agent.tools.push(tools().echo);
  await expect(run(agent, 'go', { ...inSession('too-long'), maxTurns: 1 })).rejects.toThrow('Max turns');
  expect(await service.events('too-long')).toMatchObject([{ toolName: 'echo' }, { toolName: 'web_search' }]);
});

test('records provider calls once if the run is resumed', async () => {
  const pay = tool({
    name: 'pay',
    description: 'Pays.',
    parameters: z.object({}),
    needsApproval: true,
    execute: () => 'paid',
  });
  const agent = searcher([[search, functionCall('pay', {}, { callId: 'p' })], [assistantMessage('done')]]);
  agent.tools.push(pay);
  const held = await run(agent, 'go', inSession('resumed'));
  const state = await RunState.fromString(agent, held.state.toString());
  for (const interruption of state.getInterruptions()) state.approve(interruption);
  await run(agent, state, inSession('resumed'));
  const names = (await service.events('resumed')).map(({ toolName }) => toolName);
  expect(names).toEqual(['web_search', 'pay']);
});

test('records only provider calls selected by the options', async () => {
  const agent = searcher([[search, mcpCall, assistantMessage('done')]]);
  actlog(agent, { recorder: service.recorder(), exclude: ['web_search'] });
  await run(agent, 'go', inSession('hosted-filter'));
  expect(await service.events('hosted-filter')).toMatchObject([{ toolName: 'find_issue' }]);
});
