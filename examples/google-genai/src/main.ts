// A hotel's desk in a chat with Gemini, whose functions the SDK runs. One line records each call, and the one that a
// policy denies does not run: the model gets the reason and continues without it.
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { Actlog } from '@actlog/client';
import { actlog } from '@actlog/google-genai';
import { Recorder } from '@actlog/recorder';
import { startServer } from '@actlog/server';
import { GoogleGenAI } from '@google/genai';
import { bookings } from './booking-tool.ts';
import { startScriptedGemini } from './scripted-gemini.ts';

const server = await startServer({ port: 0 });
const client = new Actlog({ baseURL: server.url, apiKey: server.apiKey });
await client.policies.create({
  name: 'cards',
  effect: 'deny',
  match: { tools: ['read_card'] },
  message: 'Agents do not read cards.',
});
const spoolDir = await mkdtemp(join(tmpdir(), 'actlog-google-genai-'));
const recorder = new Recorder({
  baseURL: server.url,
  apiKey: server.agentKey,
  agentId: 'front-desk',
  spoolDir,
  guard: { mode: 'enforce', onUnavailable: 'deny' },
});

const gemini = await startScriptedGemini(); // no key, no network
const ai = actlog(new GoogleGenAI({ apiKey: 'none', httpOptions: { baseUrl: gemini.url } }), { recorder }); // the one line

const chat = ai.chats.create({ model: 'gemini-3.8-flash', config: { tools: [bookings] } });
const { text } = await chat.sendMessage({ message: 'I am Ines Aas. Please move my room to December 3.' });
console.log(`The agent says: ${text}`);
for (const { parts = [] } of chat.getHistory()) {
  for (const { functionResponse } of parts) {
    if (functionResponse?.response?.error) console.log(`The model got: ${functionResponse.response.error}`);
  }
}

const { delivered } = await recorder.close();
console.log(`${delivered} calls of one chat:`);
const [session] = await client.agents.sessions('front-desk').toArray({ limit: 1 });
for await (const { category, payload } of client.sessions.events(session?.id ?? '')) {
  if (category === 'tool_api') console.log(`  ${payload?.responseStatus}  ${payload?.toolName}`);
}
gemini.close();
await server.close();
await rm(spoolDir, { recursive: true, force: true });
