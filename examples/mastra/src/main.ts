// Two agents of one Mastra: a planner that delegates orders to a buyer. One line records and guards both. An order needs
// approval, which this program gives. An exporter records calls that no hook sees, such as those of unknown tools.
import { Actlog } from '@actlog/client';
import { actlog } from '@actlog/mastra';
import { Recorder } from '@actlog/recorder';
import { startServer } from '@actlog/server';
import { Mastra } from '@mastra/core';
import { Agent } from '@mastra/core/agent';
import { createTool } from '@mastra/core/tools';
import { Observability } from '@mastra/observability';
import * as z from 'zod';
import { scriptedModel } from './scripted-model.ts';

const server = await startServer({ port: 0 });
const client = new Actlog({ baseURL: server.url, apiKey: server.apiKey });
await client.policies.create({
  name: 'orders need approval',
  effect: 'require_approval',
  match: { tools: ['place_order'] },
});
await client.policies.create({
  name: 'agents must not change suppliers',
  effect: 'deny',
  match: { tools: ['change_supplier'] },
});
const recorder = new Recorder({
  baseURL: server.url,
  apiKey: server.agentKey,
  spool: false,
  guard: { mode: 'enforce', onUnavailable: 'deny' },
});

const stock = createTool({
  id: 'read_stock',
  description: 'How much of an article there is.',
  inputSchema: z.object({ article: z.string() }),
  execute: async ({ article }) => ({ article, left: 3 }),
});
const order = createTool({
  id: 'place_order',
  description: 'Order an article.',
  inputSchema: z.object({ article: z.string(), pieces: z.number() }),
  execute: async ({ article, pieces }) => `${pieces} × ${article} ordered`,
});
const supplier = createTool({
  id: 'change_supplier',
  description: 'Buy from somebody else from now on.',
  inputSchema: z.object({ name: z.string() }),
  execute: async ({ name }) => `We buy from ${name} now.`,
});

const buyer = new Agent({
  id: 'buyer',
  name: 'Buyer',
  description: 'Orders what is needed.',
  instructions: 'Order what you are asked for, from the cheapest supplier.',
  model: scriptedModel(
    [
      ['change_supplier', { name: 'Cheap & Sons' }], // an injection in an email of the supplier
      ['place_order', { article: 'lamp', pieces: 40 }],
    ],
    'Ordered 40 lamps.',
  ),
  tools: { change_supplier: supplier, place_order: order },
});
const planner = new Agent({
  id: 'planner',
  name: 'Planner',
  instructions: 'Keep the stock full.',
  model: scriptedModel(
    [
      ['read_stock', { article: 'lamp' }],
      ['agent-buyer', { prompt: 'Order 40 lamps.' }],
    ],
    'Lamps are on their way.',
  ),
  tools: { read_stock: stock },
  agents: { buyer },
});
actlog.install({ recorder }); // guards, and records
const exporters = [actlog.exporter({ recorder })]; // records all other calls
const observability = new Observability({ configs: { default: { serviceName: 'shop', exporters } } });
new Mastra({ agents: { planner, buyer }, logger: false, observability });

const run = planner.generate('Is there enough of everything?', {
  memory: { thread: 'monday', resource: 'shop' },
});
for (let held = 0; held === 0; ) {
  for await (const { id, action } of client.guardian.pendingActions.list({ status: 'pending' })) {
    held += 1;
    console.log(`${action?.toolName} is held; a person approves it.`);
    await client.guardian.pendingActions.decide(id, { decision: 'approve' });
  }
}
console.log(`The planner says: ${(await run).text}\n`);

await recorder.close();
for await (const { agentId, category, payload } of client.sessions.events('monday')) {
  const outcome = String(payload?.responseStatus ?? payload?.decision);
  console.log(
    `${String(agentId).padEnd(8)} ${category?.padEnd(18)} ${outcome.padEnd(17)} ${payload?.toolName}`,
  );
}
await server.close();
