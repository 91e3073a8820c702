// A shop's front desk hands a customer off to an agent that may refund. A policy denies large refunds: the agent gets the
// denial and tells the customer. The calls of both are recorded.
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { Actlog } from '@actlog/client';
import { actlog } from '@actlog/openai-agents';
import { Recorder } from '@actlog/recorder';
import { startServer } from '@actlog/server';
import { Agent, MemorySession, run, setTracingDisabled, tool } from '@openai/agents';
import { assistantMessage, functionCall, ScriptedModel } from '@openai/agents/testing';
import * as z from 'zod';

setTracingDisabled(true); // the SDK's own traces go to OpenAI, and this program needs no key

const server = await startServer({ port: 0 });
const client = new Actlog({ baseURL: server.url, apiKey: server.apiKey });
await client.policies.create({
  name: 'Agents must not make large refunds',
  effect: 'deny',
  match: { tools: ['refund'] },
  message: 'Refunds are made by the finance team.',
});
const spoolDir = await mkdtemp(join(tmpdir(), 'actlog-openai-agents-'));
const recorder = new Recorder({
  baseURL: server.url,
  apiKey: server.agentKey,
  spoolDir,
  guard: { mode: 'enforce', onUnavailable: 'deny' },
});

const orders: Record<string, number> = { 'A-1001': 42.5, 'A-1002': 310 };
const getOrder = tool({
  name: 'get_order',
  description: 'Look up an order.',
  parameters: z.object({ orderId: z.string() }),
  execute: ({ orderId }) => JSON.stringify({ orderId, total: orders[orderId] ?? null }),
});
const refund = tool({
  name: 'refund',
  description: 'Pay money back.',
  parameters: z.object({ orderId: z.string(), amount: z.number() }),
  execute: ({ orderId }) => `refunded ${orderId}`,
});

// Scripted models in the real SDK: no key, no network.
const finance = new Agent({
  name: 'finance',
  handoffDescription: 'Refunds and invoices.',
  tools: [getOrder, refund],
  model: new ScriptedModel([
    [functionCall('get_order', { orderId: 'A-1002' }, { callId: 'call_2' })],
    [functionCall('refund', { orderId: 'A-1002', amount: 310 }, { callId: 'call_3' })],
    [assistantMessage('I may not refund this myself; our finance team will write to you.')],
  ]),
});
const desk = new Agent({
  name: 'front-desk',
  handoffs: [finance],
  model: new ScriptedModel([[functionCall('transfer_to_finance', {}, { callId: 'call_1' })]]),
});

actlog(desk, { recorder }); // the one line

const session = new MemorySession({ sessionId: 'order-A-1002' });
const { finalOutput } = await run(desk, 'Order A-1002 never arrived. I want my money back.', { session });
console.log(`The agent says: ${finalOutput}\n`);

const { delivered } = await recorder.close();
console.log(`${delivered} calls of session order-A-1002:`);
for await (const { category, agentId, payload } of client.sessions.events('order-A-1002')) {
  if (category === 'tool_api') console.log(`  ${payload?.responseStatus}  ${agentId}  ${payload?.toolName}`);
}
await server.close();
await rm(spoolDir, { recursive: true, force: true });
