// An agent of the Vercel AI SDK looks up an order, refunds it, and tries to delete it, which a policy denies.
import { actlog } from '@actlog/ai-sdk';
import { Actlog } from '@actlog/client';
import { Recorder } from '@actlog/recorder';
import { startServer } from '@actlog/server';
import { stepCountIs, ToolLoopAgent, tool } from 'ai';
import * as z from 'zod';
import { scriptedModel } from './scripted-model.ts';

const server = await startServer({ port: 0 });
const client = new Actlog({ baseURL: server.url, apiKey: server.apiKey });
await client.policies.create({
  name: 'orders are kept for accounting',
  effect: 'deny',
  match: { tools: ['deleteOrder'] },
  message: 'Orders are kept for ten years.',
});

const recorder = new Recorder({
  baseURL: server.url,
  apiKey: server.agentKey,
  agentId: 'order-desk',
  spool: false,
  guard: { mode: 'enforce', onUnavailable: 'deny' },
});

const orders = new Map([['A-1002', { customer: 'Omar', total: 310, status: 'lost in the post' }]]);
const orderId = z.object({ orderId: z.string() });
const tools = {
  getOrder: tool({
    description: 'Look up one order.',
    inputSchema: orderId,
    execute: async (input) => {
      const order = orders.get(input.orderId);
      // The recorded status comes from the error, so a 404 differs from a crash.
      if (!order) throw Object.assign(new Error('There is no such order.'), { status: 404 });
      return order;
    },
  }),
  refundOrder: tool({
    description: 'Pay an order back.',
    inputSchema: orderId.extend({ amount: z.number() }),
    execute: async ({ amount }) => `Refunded ${amount}.`,
  }),
  deleteOrder: tool({
    description: 'Delete an order.',
    inputSchema: orderId,
    execute: async (input) => orders.delete(input.orderId),
  }),
};

const options = { recorder, sessionId: 'ticket-4711' };
const agent = new ToolLoopAgent({
  model: scriptedModel(
    [
      ['getOrder', { orderId: 'A-1O02' }], // a typo of the model
      ['getOrder', { orderId: 'A-1002' }],
      ['refundOrder', { orderId: 'A-1002', amount: 310 }],
      ['deleteOrder', { orderId: 'A-1002' }],
      ['closeTicket', {}], // an unknown tool
    ],
    'Omar has his money back. The order stays in the books.',
  ),
  tools: actlog(tools, options), // the one line
  onStepFinish: actlog.steps(options), // and one for calls that reach no tool
  stopWhen: stepCountIs(10),
});

const { text } = await agent.generate({
  prompt: 'Order A-1002 never arrived. Give Omar his money back and delete it.',
});
console.log(`The agent says: ${text}\n`);

await recorder.close();
for await (const { category, payload } of client.sessions.events('ticket-4711')) {
  if (category === 'tool_api') console.log(`${payload?.responseStatus}  ${payload?.toolName}`);
}
console.log(`\n${orders.size} order in the books.`);
await server.close();
