import { Service } from '@actlog/adapter-suite';
import {
  Agent,
  type AgentOutputItem,
  MemorySession,
  run,
  tool,
  toolNamespace,
  toolSearchTool,
} from '@openai/agents';
import { assistantMessage, functionCall, ScriptedModel } from '@openai/agents/testing';
import { afterAll, beforeAll, expect, test } from 'vitest';
import * as z from 'zod';
import { toolResultsOf } from '../tests/agent.ts';
import { actlog } from './index.ts';

let service: Service;
beforeAll(async () => {
  service = await Service.start();
  const { policies } = service.client;
  await policies.create({ name: 'no', effect: 'deny', match: { tools: ['wipe', 'disks.wipe'] } });
});
afterAll(() => service.close());

/** Creates a tool that is loaded by a search and notes when it runs. */
function wiping() {
  const ran: string[] = [];
  const wipe = tool({
    name: 'wipe',
    description: 'Wipes.',
    parameters: z.object({}),
    deferLoading: true,
    execute: () => {
      ran.push('wipe');
      return 'wiped';
    },
  });
  return { ran, wipe };
}

test.each([
  ['its own name', { namespace: 'wipe' }, 'wipe'],
  ['none', {}, 'wipe'],
  ['that of `toolNamespace`', { namespace: 'disks' }, 'disks.wipe'],
])(
  'checks a tool loaded by a search, called with this namespace, by its name: %s',
  async (which, given, toolName) => {
    const { ran, wipe } = wiping();
    const tools =
      toolName === 'wipe' ? [wipe] : toolNamespace({ name: 'disks', description: 'Disks.', tools: [wipe] });
    const call = { ...functionCall('wipe', {}, { callId: '1' }), ...given };
    const found = {
      type: 'tool_reference',
      functionName: 'wipe',
      ...(toolName !== 'wipe' && { namespace: 'disks' }),
    };
    const search: AgentOutputItem[] = [
      { type: 'tool_search_call', id: 's1', status: 'completed', arguments: { paths: ['wipe'] } },
      { type: 'tool_search_output', id: 's2', status: 'completed', tools: [found] },
    ];
    const model = new ScriptedModel([[...search, call], [assistantMessage('done')]]);
    const agent = new Agent({ name: 'tester', model, tools: [...tools, toolSearchTool()] });
    actlog(agent, { recorder: service.guarded() });
    const sessionId = `names-${which}`;
    const { newItems } = await run(agent, 'go', { session: new MemorySession({ sessionId }) });
    expect(ran).toEqual([]);
    expect(toolResultsOf(newItems)).toEqual([
      expect.stringContaining(`The call of the tool "${toolName}" was not run`),
    ]);
    expect(await service.events(sessionId)).toMatchObject([{ toolName, status: 403 }]);
  },
);

test.each([
  ['the same response of the model', 'the tool'],
  ['the same response of the model', 'a frozen tool, by a frozen search'],
  ['the next', 'the tool'],
  ['the next', 'a frozen tool, by a frozen search'],
])('guards a tool loaded by a client search when called in %s: %s', async (where, what) => {
  const { ran, wipe } = wiping();
  const own = toolSearchTool({ execution: 'client', execute: () => wipe });
  const toolSearch = what === 'the tool' ? own : Object.freeze(own);
  if (what !== 'the tool') Object.freeze(wipe);
  const search: AgentOutputItem = {
    type: 'tool_search_call',
    id: 's1',
    callId: 's1',
    status: 'completed',
    arguments: { paths: ['wipe'] },
  };
  const call = { ...functionCall('wipe', {}, { callId: '1' }), namespace: 'wipe' };
  const calls = where === 'the next' ? [[search], [call]] : [[search, call]];
  const model = new ScriptedModel([...calls, [assistantMessage('done')]]);
  const agent = new Agent({ name: 'tester', model, tools: [toolSearch] });
  const sessionId = `loaded in ${where}: ${what}`;
  actlog(agent, { recorder: service.guarded() });
  const { newItems } = await run(agent, 'go', { session: new MemorySession({ sessionId }) });
  expect(ran).toEqual([]);
  expect(toolResultsOf(newItems)).toEqual([
    expect.stringContaining('The call of the tool "wipe" was not run'),
  ]);
  expect(await service.events(sessionId)).toMatchObject([{ toolName: 'wipe', status: 403 }]);
});
