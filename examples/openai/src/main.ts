// A hand-written loop over the Responses API. A policy holds one call, which this program approves. OpenAI's own web
// search is recorded, too.
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { Actlog } from '@actlog/client';
import { actlog } from '@actlog/openai';
import { Recorder } from '@actlog/recorder';
import { startServer } from '@actlog/server';
import OpenAI from 'openai';
import type { ResponseInputItem } from 'openai/resources/responses/responses';
import { scriptedFetch } from './scripted-fetch.ts';

const server = await startServer({ port: 0 });
const client = new Actlog({ baseURL: server.url, apiKey: server.apiKey });
await client.policies.create({
  name: 'Outgoing emails need approval',
  effect: 'require_approval',
  match: { tools: ['send_email'] },
});
const spoolDir = await mkdtemp(join(tmpdir(), 'actlog-openai-'));
const recorder = new Recorder({
  baseURL: server.url,
  apiKey: server.agentKey,
  agentId: 'travel-desk',
  spoolDir,
  guard: { mode: 'enforce', onUnavailable: 'deny' },
});

const sent: string[] = [];
const runCalls = actlog.callRunner(
  {
    get_trip: ({ tripId }: { tripId: string }) => ({ tripId, train: 'IC 204', arrives: '18:04' }),
    send_email: ({ to, body }: { to: string; body: string }) => {
      sent.push(`${to}: ${body}`);
      return 'sent';
    },
  },
  { recorder, sessionId: 'trip-88' },
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

const openai = new OpenAI({ apiKey: 'none', fetch: scriptedFetch }); // no key, no network
const approved = approve();
const input: ResponseInputItem[] = [{ role: 'user', content: 'Is my train late? Tell my host.' }];
let text = '';
for (let turn = 0; turn < 10 && !text; turn += 1) {
  const response = await openai.responses.create({ model: 'gpt-5', input });
  const outputs = await runCalls(response, { messages: input });
  input.push(...(response.output as ResponseInputItem[]), ...outputs);
  text = response.output_text;
}
await approved;
console.log(`Emails sent: ${sent.join('; ')}\nThe agent says: ${text}\n`);

const { delivered } = await recorder.close();
console.log(`${delivered} calls of session trip-88:`);
for await (const { category, payload } of client.sessions.events('trip-88')) {
  if (category === 'tool_api') console.log(`  ${payload?.responseStatus}  ${payload?.toolName}`);
}
await server.close();
await rm(spoolDir, { recursive: true, force: true });
