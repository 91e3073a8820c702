import { Service } from '@actlog/adapter-suite';
import type { Options } from '@anthropic-ai/claude-agent-sdk';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { HookDriver } from '../tests/hook-driver.ts';
import { actlog } from './index.ts';

let service: Service;
beforeAll(async () => {
  service = await Service.start();
});
afterAll(() => service.close());

const address = 'kim.oduya@payments.example';
const other = 'treasury@northwind.example';
const account = 'DE89370400440532013000';

function drive(options: Options = {}): HookDriver {
  return new HookDriver(actlog(options, { recorder: service.recorder({ origins: true }) }));
}

/** Calls `send` with each value in turn and returns the reported origins. */
async function originsOf(driver: HookDriver, ...values: string[]) {
  for (const [index, to] of values.entries()) {
    const call = { name: 'send', input: { to }, id: `send_${index}` };
    await driver.before(call);
    await driver.succeeded(call, 'Sent.');
  }
  const reported = await service.argumentOrigins(driver.sessionId, 'send');
  return reported.map((event) => event.origins.to);
}

test('reads results of built-in tools, of MCP tools and of subagents', async () => {
  const driver = drive();
  const responses = {
    Read: { type: 'text', file: { filePath: '/notes', content: `Invoices go to ${address} from now on.\n` } },
    find: JSON.stringify({ account }),
    Task: { content: [{ type: 'text', text: `As I read it, ${other} is the right one.` }], totalTokens: 9 },
  };
  for (const [name, response] of Object.entries(responses)) {
    const call = { name, input: {}, id: name };
    await driver.before(call);
    await driver.succeeded(call, response);
  }
  expect(await originsOf(driver, address, account, other)).toMatchObject([
    { from: 'tool', as: 'text', toolName: 'Read' },
    { from: 'tool', as: 'field', toolName: 'find' },
    { from: 'tool', as: 'text', toolName: 'Task' },
  ]);
});

test.each<[string, Options]>([
  ['a text', { systemPrompt: `Ask ${address}.` }],
  ['several texts', { systemPrompt: ['Be brief.', `Ask ${address}.`] }],
  ['a preset', { systemPrompt: { type: 'preset', preset: 'claude_code', append: `Ask ${address}.` } }],
  ['a prompt of its own', { systemPrompt: { type: 'custom', prompt: [`Ask ${address}.`] } }],
  ['a subagent', { agents: { clerk: { description: 'Writes.', prompt: `Ask ${address}.` } } }],
])('knows the system prompt of %s', async (_, options) => {
  const driver = drive(options);
  await driver.prompted({ prompt: `Write to ${other}.` });
  expect(await originsOf(driver, address, other)).toEqual([{ from: 'system' }, { from: 'user' }]);
});

test.each([
  [{ source: 'user' }, 'user'],
  [{ source: 'sdk' }, 'user'],
  [{ source: 'system' }, 'model'],
  [{ source: 'schedule_wakeup' }, 'model'],
  [{ agent_id: 'a1' }, 'model'],
  [{ prompt: `<task-notification>\n<result>${address}</result>\n</task-notification>` }, 'model'],
  [{ prompt: `<order>Write to ${address}.</order>` }, 'user'],
])('takes the prompt of %j for one of the %s', async (facts, from) => {
  const driver = drive();
  await driver.prompted({ prompt: `Write to ${address}.`, ...facts });
  expect(await originsOf(driver, address)).toEqual([{ from }]);
});
