// A hand-written loop over a local model with Ollama. Each tool call is recorded, and the one that a policy denies does
// not run: the model gets the reason.
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { Actlog } from '@actlog/client';
import { Recorder } from '@actlog/recorder';
import { actlog } from '@actlog/recorder/loop';
import { startServer } from '@actlog/server';
import { type Message, Ollama } from 'ollama';
import { startScriptedOllama } from './scripted-ollama.ts';

const server = await startServer({ port: 0 });
const client = new Actlog({ baseURL: server.url, apiKey: server.apiKey });
await client.policies.create({
  name: 'notes',
  effect: 'deny',
  match: { tools: ['delete_*'] },
  message: 'Notes are kept.',
});
const spoolDir = await mkdtemp(join(tmpdir(), 'actlog-ollama-'));
const recorder = new Recorder({
  baseURL: server.url,
  apiKey: server.agentKey,
  agentId: 'note-keeper',
  spoolDir,
  guard: { mode: 'enforce', onUnavailable: 'deny' },
});

const notes = new Map([
  ['groceries', 'oat milk, rye bread'],
  ['diary', 'Dear diary …'],
]);
const runCalls = actlog(
  {
    read_note: ({ title }: { title: string }) => notes.get(title) ?? 'There is no such note.',
    delete_note: ({ title }: { title: string }) => notes.delete(title),
  },
  { recorder, sessionId: 'notes-1' },
); // the one line

const scripted = await startScriptedOllama(); // no model, no network
const ollama = new Ollama({ host: scripted.url });
const messages: Message[] = [{ role: 'user', content: 'What do I need to buy? And delete my diary.' }];
for (let turn = 0; turn < 10; turn += 1) {
  const { message } = await ollama.chat({ model: 'qwen3', messages });
  const results = await runCalls(message, { messages });
  messages.push(message, ...results);
  for (const { tool_name, content } of results) console.log(`${tool_name}: ${content}`);
  if (results.length === 0) break;
}
console.log(`The agent says: ${messages.at(-1)?.content}\nNotes: ${[...notes.keys()].join(', ')}\n`);

const { delivered } = await recorder.close();
console.log(`${delivered} calls of session notes-1:`);
for await (const { category, payload } of client.sessions.events('notes-1')) {
  if (category === 'tool_api') console.log(`  ${payload?.responseStatus}  ${payload?.toolName}`);
}
scripted.close();
await server.close();
await rm(spoolDir, { recursive: true, force: true });
