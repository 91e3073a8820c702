// A support bot that makes small refunds itself, and large ones with approval. The policy is stored in the service, so it
// can change without the bot, and the bot's key cannot approve anything.
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { Actlog, PermissionDeniedError } from '@actlog/client';
import { Recorder } from '@actlog/recorder';
import { startServer } from '@actlog/server';
import { runRefundDesk } from './refund-desk.ts';
import { setRefundPolicy } from './refund-policy.ts';
import { type Shop, shownArguments, supportBot } from './support-bot.ts';
import { inWords, scriptedModel, type Ticket, tickets } from './tickets.ts';

const server = await startServer({ port: 0 });
const baseURL = server.url;
const botKey = await server.admin.keys.create('default', { name: 'support bot', scopes: ['ingest'] });
const deskKey = await server.admin.keys.create('default', {
  name: 'refund desk',
  scopes: ['read', 'decide'],
});

await setRefundPolicy(new Actlog({ baseURL, apiKey: server.apiKey }), 100);

const desk = new Actlog({ baseURL, apiKey: deskKey.apiKey });
const closing = new AbortController();
const deskWork = runRefundDesk(
  desk,
  ({ action, reason }) => {
    const amount = Number(action?.arguments?.amount);
    const decision = amount <= 500 ? 'approve' : 'deny'; // in place of an approver
    console.log(`[desk] ${reason} Order ${action?.arguments?.orderId}, ${amount} euros: ${decision}.`);
    return { decision, comment: decision === 'deny' ? 'It was returned too late.' : 'Lost in the post.' };
  },
  closing.signal,
);

const spoolDir = await mkdtemp(join(tmpdir(), 'actlog-support-bot-'));
const botClient = new Actlog({ baseURL, apiKey: botKey.apiKey });
const recorder = new Recorder({
  client: botClient,
  agentId: 'support-bot',
  spoolDir,
  guard: { mode: 'enforce', onUnavailable: 'deny', showArguments: shownArguments },
});
const orders = new Map(tickets.map(({ orderId, amount }) => [orderId, amount]));
const shop: Shop = { orders, refunds: new Map() };

async function answer(ticket: Ticket): Promise<string> {
  const { messages } = await supportBot(scriptedModel(ticket), shop, recorder).invoke(
    { messages: [{ role: 'user', content: ticket.question }] },
    { configurable: { thread_id: ticket.id } },
  );
  return `\n${ticket.id}\n${messages.map(inWords).join('\n')}`;
}

const transcripts = await Promise.all(tickets.map(answer));
console.log(transcripts.join('\n'));
const { delivered } = await recorder.close();
closing.abort();
await deskWork;

console.log(`\n${delivered} calls recorded. Decisions of ${tickets.length} sessions:`);
for (const { id } of tickets) {
  for await (const { category, payload } of desk.sessions.events(id)) {
    if (category === 'guardian_decision') console.log(`  ${id}  ${payload?.toolName}  ${payload?.decision}`);
  }
}

const paid = [...shop.refunds.keys()].sort().join(', ');
const [held] = await desk.guardian.pendingActions.list({ status: 'denied' }).toArray({ limit: 1 });
const ownApproval = await botClient.guardian.pendingActions
  .decide(held?.id ?? 'none', { decision: 'approve' })
  .catch((error: unknown) => error);
if (paid !== 'A-1001, A-1002' || !(ownApproval instanceof PermissionDeniedError)) {
  console.error(`Expected refunds of A-1001 and A-1002 only, the latter by approval, got ${paid}.`);
  process.exitCode = 1;
}
await server.close();
await rm(spoolDir, { recursive: true, force: true });
