import { Service } from '@actlog/adapter-suite';
import { Agent } from '@mastra/core/agent';
import { createTool } from '@mastra/core/tools';
import { afterAll, beforeAll, expect, test } from 'vitest';
import * as z from 'zod';
import { agentOf, inMastra, inThread } from '../tests/agent.ts';
import { legacyModelOf } from '../tests/legacy-model.ts';
import { actlog } from './index.ts';

let service: Service;
beforeAll(async () => {
  service = await Service.start();
});
afterAll(() => service.close());

const address = 'kim.oduya@payments.example';
const other = 'treasury@northwind.example';

const send = createTool({
  id: 'send',
  description: 'Sends.',
  inputSchema: z.object({ to: z.string() }),
  execute: async () => 'Sent.',
});

const sending = (...to: string[]) => [to.map((each) => ({ name: 'send', args: { to: each } }))];

/** Returns the reported origins of the calls of `send`. */
async function origins(sessionId: string) {
  const reported = await service.argumentOrigins(sessionId, 'send');
  return reported.map((event) => event.origins.to?.from);
}

const found = {
  content: [{ type: 'text', text: JSON.stringify({ account: 'DE89370400440532013000' }) }],
  structuredContent: { address },
};

test('reads the result of an MCP tool as its fields', async () => {
  const find = createTool({ id: 'find', description: 'Finds.', execute: async () => found });
  const { agent } = agentOf({
    turns: [[{ name: 'find', args: {} }], ...sending(address, 'DE89370400440532013000')],
    tools: { find, send },
    hooks: actlog({ recorder: service.recorder({ origins: true }) }),
  });
  await agent.generate('go', inThread('mcp'));
  const reported = await service.argumentOrigins('mcp');
  expect(reported.map((event) => event.origins.to)).toMatchObject([
    { from: 'tool', as: 'field', toolName: 'find' },
    { from: 'tool', as: 'field', toolName: 'find' },
  ]);
});

test.each(['hooks of the outer agent', 'traced hooks of the inner agent', 'exporter'] as const)(
  'does not take the prompt of a delegated agent for the text of the user: %s',
  async (hook) => {
    const adapter = { recorder: service.recorder({ origins: true }) };
    const hooks = { hooks: actlog(adapter) };
    const { agent: inner } = agentOf({
      id: 'inner',
      turns: sending(address, other),
      tools: { send },
      ...(hook.startsWith('traced') && hooks),
    });
    const { agent: outer } = agentOf({
      turns: [[{ name: 'agent-inner', args: { prompt: `Write to ${address}.` } }], ...sending(other)],
      tools: { send },
      agents: { inner },
      ...(hook.endsWith('outer agent') && hooks),
    });
    const recorder = hook === 'exporter' ? adapter.recorder : service.recorder();
    if (!hook.endsWith('outer agent')) inMastra({ outer, inner }, actlog.exporter({ recorder }));
    await outer.generate(`Have them write to ${other}.`, inThread(hook));
    expect((await origins(hook))[0]).toBe('model');
    if (!hook.startsWith('traced')) expect((await origins(hook)).at(-1)).toBe('user');
  },
);

test('knows the texts of a run with a legacy model', async () => {
  const hooks = actlog({ recorder: service.recorder({ origins: true }), sessionId: 'legacy' });
  const model = legacyModelOf('send', [{ to: address }, { to: other }]);
  const settings = { id: 'legacy', name: 'Legacy', instructions: `Ask ${other}.`, model };
  await new Agent({ ...settings, tools: { send }, hooks }).generateLegacy(`Write to ${address}.`);
  expect(await origins('legacy')).toEqual(['user', 'system']);
});

test('knows instructions of any form, and those of the run where it is traced', async () => {
  const adapter = { recorder: service.recorder({ origins: true }) };
  const instructions = async () => [
    { role: 'system' as const, content: `Ask ${address}.` },
    { role: 'system' as const, content: 'Be brief.' },
  ];
  for (const [sessionId, override] of [
    ['dynamic', undefined],
    ['of-run', `Ask ${other}.`],
  ] as const) {
    const { agent: scripted, model } = agentOf({ turns: sending(address, other) });
    const settings = { id: sessionId, name: scripted.name, tools: { send }, model: model.config };
    const agent = new Agent({ ...settings, instructions, hooks: actlog({ ...adapter, sessionId }) });
    inMastra({ agent }, actlog.exporter({ recorder: service.recorder(), exclude: ['send'] }));
    await agent.generate('go', { ...(override !== undefined && { instructions: override }) });
  }
  expect(await origins('dynamic')).toEqual(['system', 'model']);
  expect(await origins('of-run')).toEqual(['model', 'system']);
});
