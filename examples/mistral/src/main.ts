// A hand-written loop over Mistral's API, with approval of the one call that sends something to customers. The calls of a
// turn run at once, and are recorded in one session.
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { Actlog } from '@actlog/client';
import { Recorder } from '@actlog/recorder';
import { actlog } from '@actlog/recorder/loop';
import { startServer } from '@actlog/server';
import { Mistral } from '@mistralai/mistralai';
import type { ChatCompletionRequestMessage } from '@mistralai/mistralai/models/components';
import { startScriptedMistral } from './scripted-mistral.ts';

const server = await startServer({ port: 0 });
const client = new Actlog({ baseURL: server.url, apiKey: server.apiKey });
await client.policies.create({
  name: 'Outgoing messages need approval',
  effect: 'require_approval',
  match: { tools: ['send_*'] },
});
const spoolDir = await mkdtemp(join(tmpdir(), 'actlog-mistral-'));
const recorder = new Recorder({
  baseURL: server.url,
  apiKey: server.agentKey,
  agentId: 'bookkeeper',
  spoolDir,
  guard: { mode: 'enforce', onUnavailable: 'deny' },
});

const reminded: string[] = [];
const runCalls = actlog(
  {
    find_invoice: ({ number }: { number: string }) => ({ number, total: 480, due: '2026-11-01' }),
    find_payment: () => 'none',
    send_reminder: ({ invoice }: { invoice: string }) => {
      reminded.push(invoice);
      return 'sent';
    },
  },
  { recorder },
); // the one line

/** Approves the first held action in place of an approver. */
async function approve(): Promise<void> {
  for (let look = 0; look < 10_000; look += 1) {
    const [held] = await client.guardian.pendingActions.list({ status: 'pending' }).toArray({ limit: 1 });
    if (!held) continue;
    console.log(`A person approves ${held.action?.toolName}.`);
    await client.guardian.pendingActions.decide(held.id, { decision: 'approve' });
    return;
  }
}

const scripted = await startScriptedMistral(); // no key, no network
const mistral = new Mistral({ apiKey: 'none', serverURL: scripted.url });
const approved = approve();
const messages: ChatCompletionRequestMessage[] = [{ role: 'user', content: 'Is invoice 2026-118 paid?' }];
for (let turn = 0; turn < 10; turn += 1) {
  const response = await mistral.chat.complete({ model: 'mistral-large-latest', messages });
  const results = await runCalls(response, { messages });
  messages.push({ ...response.choices[0]?.message, role: 'assistant' }, ...results);
  if (results.length === 0) break;
}
await approved;
console.log(`Reminders: ${reminded.join(', ')}\nThe agent says: ${messages.at(-1)?.content}\n`);

const { delivered } = await recorder.close();
const [session] = await client.agents.sessions('bookkeeper').toArray({ limit: 1 });
console.log(`${delivered} calls of one conversation:`);
for await (const { category, payload } of client.sessions.events(session?.id ?? '')) {
  if (category === 'tool_api') console.log(`  ${payload?.responseStatus}  ${payload?.toolName}`);
}
scripted.close();
await server.close();
await rm(spoolDir, { recursive: true, force: true });
