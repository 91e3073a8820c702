import { Service } from '@actlog/adapter-suite';
import { Agent, MemorySession, run, tool } from '@openai/agents';
import { afterAll, beforeAll, expect, test } from 'vitest';
import * as z from 'zod';
import { modelOf, tools } from '../tests/agent.ts';
import { actlog } from './index.ts';

let service: Service;
beforeAll(async () => {
  service = await Service.start();
});
afterAll(() => service.close());

const inSession = (sessionId: string) => ({ session: new MemorySession({ sessionId }) });
const text = 'Please pay DE89370400440532013000 today.';
const sayAccount = [{ name: 'echo', args: { text: 'DE89370400440532013000' } }];

/** Returns the origins of the argument `text` of the calls of `echo`. */
async function originsOf(sessionId: string) {
  const reported = await service.argumentOrigins(sessionId, 'echo');
  return reported.map(({ origins }) => origins.text);
}

function traced() {
  return service.recorder({ origins: true });
}

test('sees messages of the user and the developer in an input, without those of the model', async () => {
  const { echo } = tools();
  const model = modelOf([
    sayAccount,
    [{ name: 'echo', args: { text: 'treasury@northwind.example' } }],
    [{ name: 'echo', args: { text: 'kim.oduya@payments.example' } }],
  ]);
  const agent = actlog(new Agent({ name: 'payer', model, tools: [echo] }), { recorder: traced() });
  await run(
    agent,
    [
      { role: 'system', content: 'Questions go to treasury@northwind.example.' },
      { role: 'user', content: [{ type: 'input_text', text }] },
      {
        role: 'assistant',
        status: 'completed',
        content: [{ type: 'output_text', text: 'I ask kim.oduya@payments.example.' }],
      },
      { role: 'user', content: 'go on' },
    ],
    inSession('messages'),
  );
  expect(await originsOf('messages')).toEqual([{ from: 'user' }, { from: 'system' }, { from: 'model' }]);
});

test('sees instructions that a function returns, of an agent that was handed over to', async () => {
  const { echo } = tools();
  const billing = new Agent({
    name: 'billing',
    instructions: async () => 'Pay to DE89370400440532013000.',
    model: modelOf([sayAccount]),
    tools: [echo],
  });
  const triage = new Agent({
    name: 'triage',
    model: modelOf([[{ name: 'transfer_to_billing', args: {} }]]),
    handoffs: [billing],
  });
  actlog(triage, { recorder: traced() });
  await run(triage, 'go', inSession('handoff'));
  expect(await originsOf('handoff')).toEqual([{ from: 'system' }]);
});

test('does not take the input of an agent tool, written by a model, for a text of the user', async () => {
  const { echo } = tools();
  const inner = new Agent({ name: 'inner', model: modelOf([sayAccount]), tools: [echo] });
  const outer = new Agent({
    name: 'outer',
    model: modelOf([[{ name: 'ask_inner', args: { input: text } }]]),
    tools: [inner.asTool({ toolName: 'ask_inner', toolDescription: 'Asks the inner agent.' })],
  });
  actlog(outer, { recorder: traced() });
  await run(outer, 'go', inSession('as-tool'));
  expect(await originsOf('as-tool')).toEqual([{ from: 'model' }]);
});

test('knows the text of the user in a run that is resumed after an approval', async () => {
  const { ran } = tools();
  const echo = tool({
    name: 'echo',
    description: 'Says it again.',
    parameters: z.object({ text: z.string() }),
    needsApproval: true,
    execute: ({ text: said }) => {
      ran.push(said);
      return said;
    },
  });
  const agent = new Agent({ name: 'payer', model: modelOf([sayAccount]), tools: [echo] });
  actlog(agent, { recorder: service.recorder() });
  const { state, interruptions } = await run(agent, text, inSession('resumed'));
  for (const interruption of interruptions) state.approve(interruption);
  actlog(agent, { recorder: traced() }); // like a later process, which has not seen the first run
  await run(agent, state, inSession('resumed'));
  expect(ran).toHaveLength(1);
  expect(await originsOf('resumed')).toEqual([{ from: 'user' }]);
});

test.each([
  ['a value', () => ({ address: 'kim.oduya@payments.example' })],
  ['JSON', () => '{"address":"kim.oduya@payments.example"}'],
  ['a block of content', () => ({ type: 'text' as const, text: '{"address":"kim.oduya@payments.example"}' })],
  ['blocks of content', () => [{ type: 'text' as const, text: '{"address":"kim.oduya@payments.example"}' }]],
])('finds a field in a result that the tool returns as %s', async (title, result) => {
  const { echo } = tools();
  const read = tool({
    name: 'read',
    description: 'Reads.',
    parameters: z.object({}),
    execute: () => result(),
  });
  const model = modelOf([
    [{ name: 'read', args: {} }],
    [{ name: 'echo', args: { text: 'kim.oduya@payments.example' } }],
  ]);
  const agent = actlog(new Agent({ name: 'payer', model, tools: [echo, read] }), { recorder: traced() });
  await run(agent, 'go', inSession(title));
  expect(await originsOf(title)).toMatchObject([{ from: 'tool', as: 'field', toolName: 'read' }]);
});
