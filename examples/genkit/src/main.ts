// A travel desk built with Genkit: it looks for a train, and buys the ticket once an approver has approved it. The
// service's policy requires the approval, and the tool waits for it.
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { Actlog } from '@actlog/client';
import { actlog } from '@actlog/genkit';
import { Recorder } from '@actlog/recorder';
import { startServer } from '@actlog/server';
import { genkit, z } from 'genkit';

const ai = genkit({});

const tools = [
  ai.defineTool(
    {
      name: 'find_trains',
      description: 'Find trains between two towns.',
      inputSchema: z.object({ from: z.string(), to: z.string() }),
    },
    async ({ from, to }) => [{ train: 'IC 5', from, to, leaves: '09:12', price: 49 }],
  ),
  ai.defineTool(
    {
      name: 'buy_ticket',
      description: 'Buy a ticket with the company card.',
      inputSchema: z.object({ train: z.string(), price: z.number() }),
    },
    async ({ train }) => ({ train, ticket: 'T-881' }),
  ),
];

const script = [
  { toolRequest: { name: 'find_trains', input: { from: 'Bern', to: 'Basel' }, ref: 'call-1' } },
  { toolRequest: { name: 'buy_ticket', input: { train: 'IC 5', price: 49 }, ref: 'call-2' } },
  { text: 'You are on the 09:12 to Basel.' },
];
const model = ai.defineModel({ name: 'scripted', supports: { tools: true } }, async ({ messages }) => {
  const turn = messages.filter(({ role }) => role === 'model').length;
  return { message: { role: 'model', content: script.slice(turn, turn + 1) } };
});

const folder = await mkdtemp(join(tmpdir(), 'actlog-genkit-'));
const server = await startServer({ port: 0 });
const client = new Actlog({ baseURL: server.url, apiKey: server.apiKey });
await client.policies.create({
  name: 'purchases need approval',
  effect: 'require_approval',
  match: { tools: ['buy_*'] },
});
const guard = { mode: 'enforce', onUnavailable: 'deny' } as const;
const recorder = new Recorder({
  baseURL: server.url,
  apiKey: server.agentKey,
  guard,
  agentId: 'travel-desk',
  spoolDir: join(folder, 'spool'),
});

actlog(ai, { recorder }); // the one line

/** Approves the first held action in place of an approver. */
async function approve(): Promise<void> {
  for (let look = 0; look < 1000; look += 1) {
    const [held] = await client.guardian.pendingActions.list({ status: 'pending' }).toArray({ limit: 1 });
    if (!held) continue;
    console.log(`Held until a person approves: ${held.action?.toolName}`);
    await client.guardian.pendingActions.decide(held.id, { decision: 'approve' });
    return;
  }
}

const [{ text }] = await Promise.all([
  ai.generate({
    model,
    tools,
    prompt: 'I need to be in Basel before eleven.',
    context: { sessionId: 'trip-to-basel' },
  }),
  approve(),
]);
console.log(`The desk says: ${text}`);

const { delivered } = await recorder.close();
console.log(`${delivered} calls recorded:`);
for await (const { category, payload } of client.sessions.events('trip-to-basel')) {
  console.log(`  ${category}  ${payload?.responseStatus ?? payload?.decision}  ${payload?.toolName}`);
}
await server.close();
await rm(folder, { recursive: true, force: true });
