// A hand-written loop over Amazon Bedrock's Converse API. Each tool call is recorded, a denied call does not run, and the
// model gets the error of a function that throws, without ending the loop.
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { Actlog } from '@actlog/client';
import { Recorder } from '@actlog/recorder';
import { actlog } from '@actlog/recorder/loop';
import { startServer } from '@actlog/server';
import { BedrockRuntimeClient, ConverseCommand, type Message } from '@aws-sdk/client-bedrock-runtime';
import { startScriptedBedrock } from './scripted-bedrock.ts';

const server = await startServer({ port: 0 });
const client = new Actlog({ baseURL: server.url, apiKey: server.apiKey });
await client.policies.create({
  name: 'databases',
  effect: 'deny',
  match: { tools: ['restart'] },
  message: 'Only operators restart databases.',
});
const spoolDir = await mkdtemp(join(tmpdir(), 'actlog-bedrock-'));
const recorder = new Recorder({
  baseURL: server.url,
  apiKey: server.agentKey,
  agentId: 'on-call',
  spoolDir,
  guard: { mode: 'enforce', onUnavailable: 'deny' },
});

const runCalls = actlog(
  {
    read_logs: ({ machine }: { machine: string }): string => {
      throw new Error(`${machine}: no space left on device`);
    },
    restart: ({ machine }: { machine: string }) => `${machine} is restarting`,
  },
  { recorder, sessionId: 'incident-31' },
); // the one line

const scripted = await startScriptedBedrock(); // no account, no network
const bedrock = new BedrockRuntimeClient({
  region: 'eu-west-1',
  endpoint: scripted.url,
  credentials: { accessKeyId: 'none', secretAccessKey: 'none' },
});
const messages: Message[] = [{ role: 'user', content: [{ text: 'The shop is slow. Fix it.' }] }];
for (let turn = 0; turn < 10; turn += 1) {
  const response = await bedrock.send(new ConverseCommand({ modelId: 'anthropic.claude', messages }));
  const results = await runCalls(response, { messages });
  if (response.output?.message) messages.push(response.output.message);
  messages.push(...results);
  for (const { toolResult } of results.flatMap(({ content }) => content)) {
    console.log(`${toolResult.toolUseId}, ${toolResult.status}: ${toolResult.content[0]?.text}`);
  }
  if (results.length === 0) break;
}
console.log(`The agent says: ${messages.at(-1)?.content?.[0]?.text}\n`);

const { delivered } = await recorder.close();
console.log(`${delivered} calls of session incident-31:`);
for await (const { category, payload } of client.sessions.events('incident-31')) {
  if (category === 'tool_api') console.log(`  ${payload?.responseStatus}  ${payload?.toolName}`);
}
bedrock.destroy();
scripted.close();
await server.close();
await rm(spoolDir, { recursive: true, force: true });
