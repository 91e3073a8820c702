// A newsroom built with Google ADK: an editor uses a researcher, another agent, as a tool. One plugin records both, and
// the service's policies apply to both.
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { Actlog } from '@actlog/client';
import { actlog } from '@actlog/google-adk';
import { Recorder } from '@actlog/recorder';
import { startServer } from '@actlog/server';
import { AgentTool, InMemoryRunner, LlmAgent, LogLevel, setLogLevel } from '@google/adk';
import { ScriptedLlm } from './scripted-llm.ts';
import { archive, publish, sources } from './tools.ts';

setLogLevel(LogLevel.ERROR);

const researcher = new LlmAgent({
  name: 'researcher',
  description: 'Finds out what is known.',
  model: new ScriptedLlm(
    [
      { name: 'search_archive', args: { words: 'the harbour' } },
      { name: 'read_source_file', args: { source: 'the harbour pilot' } }, // denied by a policy
    ],
    'The archive has one article.',
  ),
  tools: [archive, sources],
});
const calls = [
  { name: 'researcher', args: { request: 'What do we know about the harbour?' } },
  { name: 'publish', args: { title: 'The harbour, once more' } },
];
const editor = new LlmAgent({
  name: 'editor',
  model: new ScriptedLlm(calls, 'It is online.'),
  tools: [new AgentTool({ agent: researcher }), publish],
});

const folder = await mkdtemp(join(tmpdir(), 'actlog-google-adk-'));
const server = await startServer({ port: 0 });
const client = new Actlog({ baseURL: server.url, apiKey: server.apiKey });
const message = 'Sources are protected.';
await client.policies.create({
  name: 'sources',
  effect: 'deny',
  match: { tools: ['read_source_*'] },
  message,
});
const guard = { mode: 'enforce', onUnavailable: 'deny' } as const;
const recorder = new Recorder({
  baseURL: server.url,
  apiKey: server.agentKey,
  guard,
  spoolDir: join(folder, 'spool'),
});

const runner = new InMemoryRunner({ agent: editor, plugins: [actlog({ recorder })] }); // the one line
const owner = { appName: runner.appName, userId: 'desk' };
await runner.sessionService.createSession({ ...owner, sessionId: 'harbour-story' });
const newMessage = { role: 'user', parts: [{ text: 'We need something about the harbour.' }] };
for await (const { author, content } of runner.runAsync({
  ...owner,
  sessionId: 'harbour-story',
  newMessage,
})) {
  for (const { text } of content?.parts ?? []) if (text) console.log(`${author}: ${text}`);
}

const { delivered } = await recorder.close();
console.log(`${delivered} calls recorded:`);
for await (const { agentId, category, payload } of client.sessions.events('harbour-story')) {
  console.log(
    `  ${agentId}  ${category}  ${payload?.responseStatus ?? payload?.decision}  ${payload?.toolName}`,
  );
}
await server.close();
await rm(folder, { recursive: true, force: true });
