// A receiver of actlog's webhooks: it verifies signatures, responds at once, processes repeated deliveries once, and denies
// held actions of risky sessions without an approver.
import { once } from 'node:events';
import { mkdtemp, rm } from 'node:fs/promises';
import type { AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { Actlog } from '@actlog/client';
import { setWebhookRiskLevel } from '@actlog/client/server';
import { ActionDeniedError, Recorder } from '@actlog/recorder';
import { startServer } from '@actlog/server';
import { serve } from '@hono/node-server';
import { Inbox } from './inbox.ts';
import { MessageLog } from './message-log.ts';
import { createReceiver } from './receiver.ts';
import { respond } from './responder.ts';
import { Worker } from './worker.ts';

// By default, webhooks go only to public addresses and ports 443 and 80. These options allow a receiver on this machine.
const server = await startServer({
  port: 0,
  webhookAllowedRanges: ['127.0.0.0/8'],
  webhookAllowedPorts: 'any',
});
const client = new Actlog({ baseURL: server.url, apiKey: server.apiKey });
const folder = await mkdtemp(join(tmpdir(), 'actlog-webhook-receiver-'));

const messages = new MessageLog();
const inbox = new Inbox(join(folder, 'inbox.db'));
const worker = new Worker(inbox, (event) => respond(client, event, (text) => messages.add(text)));
const secrets: string[] = [];
const receiver = createReceiver({
  secrets: () => secrets,
  put: (delivery) => inbox.put(delivery),
  onKept: () => void worker.wake(),
});
const responses = new MessageLog();
const listener = serve({
  hostname: '127.0.0.1',
  port: 0,
  fetch: async (request) => {
    const response = await receiver.fetch(request);
    responses.add(`${response.status} ${request.headers.get('webhook-id')}`);
    return response;
  },
});
await once(listener, 'listening');
const url = `http://127.0.0.1:${(listener.address() as AddressInfo).port}/actlog`;
const channel = await client.notificationChannels.create({
  url,
  events: ['session.risk_raised', 'guardian.action_pending'],
});
// A new webhook gets only sessions that reach `high`.
await setWebhookRiskLevel(client, channel.id, 'medium');
secrets.push(channel.secret ?? ''); // shown only once: store it where the receiver reads it

await client.policies.create({
  name: 'Transfers need approval',
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

/** Calls tools like an agent, and returns the result of the last one. */
async function work(sessionId: string, toolNames: readonly string[]): Promise<string> {
  const session = recorder.session(sessionId);
  let result = '';
  for (const toolName of toolNames) {
    await recorder.flush(); // so that the risk includes all earlier calls
    result = await session
      .toolCall({ toolName, arguments: {} }, () => 'done')
      .catch((error: unknown) => (ActionDeniedError.isInstance(error) ? 'denied' : Promise.reject(error)));
  }
  return result;
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

const announced = await messages.first(/^transfer_money of session rent-of-march waits/);
const held = announced.slice(announced.lastIndexOf(' ') + 1);
await client.guardian.pendingActions.decide(held, { decision: 'approve' }); // in place of an approver
console.log(`The benign transfer: ${await benign}. The compromised one: ${await compromised}.`);
await messages.first(/^Session mailbox-of-ines is at/);
await worker.wake();

// The same delivery again, as after a lost response, and a forged one.
const deliveries = await server.admin.webhooks.deliveries('default', channel.id);
const delivery = deliveries.find(
  ({ status, event_type }) => status === 'delivered' && event_type === 'guardian.action_pending',
);
await server.admin.webhooks.replay('default', delivery?.id ?? '');
await responses.times(2, new RegExp(`^200 ${delivery?.message_id}$`));
const forged = await fetch(url, {
  method: 'POST',
  headers: await client.webhooks.sign('{}', `whsec_${btoa('another secret, of 32 characters')}`),
  body: '{}',
});
await worker.wake();
console.log(
  `Response to the forged delivery: ${forged.status}; ${messages.length} messages to the on-call channel:`,
);
console.log(messages.all.map((text) => `  ${text}`).join('\n'));

const doubled = messages.length - new Set(messages.all).size;
const outcome = [await benign, await compromised, forged.status, doubled].join(' ');
if (outcome !== 'done denied 401 0') {
  console.error(`Expected done, denied, 401 and no repeated message, got ${outcome}.`);
  process.exitCode = 1;
}
await recorder.close();
await server.close();
await new Promise((resolve) => listener.close(resolve));
inbox.close();
await rm(folder, { recursive: true, force: true });
