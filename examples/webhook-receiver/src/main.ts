// A receiver of actlog's webhooks: it checks signatures, answers at once, acts once on what is delivered twice, and
// keeps people out of what needs none: an action of a risky session is denied before anyone has to look at it.
import { once } from 'node:events';
import { mkdtemp, rm } from 'node:fs/promises';
import type { AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { Actlog } from '@actlog/client';
import { ActionDeniedError, Recorder } from '@actlog/recorder';
import { startServer } from '@actlog/server';
import { serve } from '@hono/node-server';
import { Inbox } from './inbox.ts';
import { createReceiver } from './receiver.ts';
import { respond } from './responder.ts';
import { Told } from './told.ts';
import { Worker } from './worker.ts';

// Webhooks go to public addresses and to ports 443 and 80 only; the range and the port are for this receiver, which is on this machine.
const server = await startServer({
  port: 0,
  webhookAllowedRanges: ['127.0.0.0/8'],
  webhookAllowedPorts: 'any',
});
const client = new Actlog({ baseURL: server.url, apiKey: server.apiKey });
const folder = await mkdtemp(join(tmpdir(), 'actlog-webhook-receiver-'));

const told = new Told();
const inbox = new Inbox(join(folder, 'inbox.db'));
const worker = new Worker(inbox, (event) => respond(client, event, (text) => told.add(text)));
const secrets: string[] = [];
const receiver = createReceiver({
  secrets: () => secrets,
  put: (delivery) => inbox.put(delivery),
  onKept: () => void worker.wake(),
});
const answers = new Told();
const listener = serve({
  hostname: '127.0.0.1',
  port: 0,
  fetch: async (request) => {
    const answer = await receiver.fetch(request);
    answers.add(`${answer.status} ${request.headers.get('webhook-id')}`);
    return answer;
  },
});
await once(listener, 'listening');
const url = `http://127.0.0.1:${(listener.address() as AddressInfo).port}/actlog`;
const channel = await client.notificationChannels.create({
  url,
  events: ['session.risk_raised', 'guardian.action_pending'],
});
secrets.push(channel.secret ?? ''); // shown this once: keep it where the receiver reads it

await client.policies.create({
  name: 'Money moves by a person only',
  effect: 'require_approval',
  match: { tools: ['transfer_money'] },
});
const guard = { mode: 'enforce', onUnavailable: 'deny' } as const;
const recorder = new Recorder({
  baseURL: server.url,
  apiKey: server.agentKey,
  guard,
  agentId: 'office-agent',
  spool: false,
});

/** Works through calls of tools, the way an agent would, and gives what the last one answered. */
async function work(sessionId: string, toolNames: readonly string[]): Promise<string> {
  const session = recorder.session(sessionId);
  let answer = '';
  for (const toolName of toolNames) {
    await recorder.flush(); // so that the risk is of all that happened before
    answer = await session
      .toolCall({ toolName, arguments: {} }, () => 'done')
      .catch((error: unknown) => (ActionDeniedError.isInstance(error) ? 'denied' : Promise.reject(error)));
  }
  return answer;
}
const benign = work('rent-of-march', ['get_contract', 'transfer_money']);
const compromised = work('mailbox-of-ines', [
  'read_inbox',
  'search_contacts',
  'download_attachment',
  'execute_command',
  'post_to_slack',
  'delete_email',
  'transfer_money',
]);

const announced = await told.first(/^transfer_money of session rent-of-march waits/);
const held = announced.slice(announced.lastIndexOf(' ') + 1);
await client.guardian.pendingActions.decide(held, { decision: 'approve' }); // stands for a person
console.log(`The benign transfer: ${await benign}. The compromised one: ${await compromised}.`);
await told.first(/^Session mailbox-of-ines is at/);
await worker.wake();

// The same delivery again, as after an answer that got lost, and one that somebody else made up.
const deliveries = await server.admin.deliveries('default', channel.id);
const delivery = deliveries.find(
  ({ status, event_type }) => status === 'delivered' && event_type === 'guardian.action_pending',
);
await server.admin.replayDelivery('default', delivery?.id ?? '');
await answers.times(2, new RegExp(`^200 ${delivery?.message_id}$`));
const forged = await fetch(url, {
  method: 'POST',
  headers: await client.webhooks.sign('{}', `whsec_${btoa('another secret, of 32 characters')}`),
  body: '{}',
});
await worker.wake();
console.log(
  `The forged delivery was answered ${forged.status}; ${told.length} messages to the people on call:`,
);
console.log(told.all.map((text) => `  ${text}`).join('\n'));

const doubled = told.length - new Set(told.all).size;
const outcome = [await benign, await compromised, forged.status, doubled].join(' ');
if (outcome !== 'done denied 401 0') {
  console.error(`Expected done, denied, 401 and nothing told twice; it was: ${outcome}.`);
  process.exitCode = 1;
}
await recorder.close();
await server.close();
await new Promise((resolve) => listener.close(resolve));
inbox.close();
await rm(folder, { recursive: true, force: true });
