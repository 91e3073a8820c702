// A release assistant built with the Claude Agent SDK and the real Claude Code. It may read files, it must not use the
// shell, and a deployment needs approval, which this program gives.
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { actlog } from '@actlog/claude-agent-sdk';
import { Actlog } from '@actlog/client';
import { Recorder } from '@actlog/recorder';
import { startServer } from '@actlog/server';
import { createSdkMcpServer, query, tool } from '@anthropic-ai/claude-agent-sdk';
import * as z from 'zod';
import { scriptedModel } from './scripted-model.ts';

const folder = await mkdtemp(join(tmpdir(), 'actlog-release-'));
const notes = join(folder, 'CHANGES.md');
await writeFile(notes, '2.4.0: faster start\n');

const server = await startServer({ port: 0 });
const client = new Actlog({ baseURL: server.url, apiKey: server.apiKey });
await client.policies.create({
  name: 'no shell',
  effect: 'deny',
  match: { tools: ['Bash'] },
  message: 'Releases are made with the release tools alone.',
});
await client.policies.create({
  name: 'deployments are approved by a person',
  effect: 'require_approval',
  match: { tools: ['mcp__release__deploy'] },
});
const guard = { mode: 'enforce', onUnavailable: 'deny' } as const;
const recorder = new Recorder({
  baseURL: server.url,
  apiKey: server.agentKey,
  agentId: 'release-assistant',
  spool: false,
  guard,
});

const deploy = tool('deploy', 'Deploy a version.', { version: z.string() }, async ({ version }) => ({
  content: [{ type: 'text', text: `${version} is live.` }],
}));
const model = await scriptedModel(
  [
    ['Read', { file_path: notes }],
    ['Bash', { command: 'git push --force', description: 'Push the tag' }], // a bad idea
    ['mcp__release__deploy', { version: '2.4.0' }],
  ],
  'Version 2.4.0 is live.',
);
const options = {
  cwd: folder,
  allowedTools: ['Read', 'Bash', 'mcp__release'],
  mcpServers: { release: createSdkMcpServer({ name: 'release', tools: [deploy] }) },
  settingSources: [],
  env: {
    PATH: process.env.PATH,
    HOME: folder,
    ANTHROPIC_BASE_URL: model.url,
    ANTHROPIC_API_KEY: 'none',
    CLAUDE_CODE_DISABLE_NONESSENTIAL_TRAFFIC: '1',
  },
};

async function release(): Promise<string> {
  const settings = { recorder, sessionId: 'release-2.4.0' };
  const run = query({ prompt: 'Release 2.4.0.', options: actlog(options, settings) }); // the one line
  let answer = 'nothing';
  for await (const message of run) {
    if (message.type === 'result' && message.subtype === 'success') answer = message.result;
  }
  return answer;
}

const run = release();
for (let held = 0; held === 0; ) {
  for await (const { id, action } of client.guardian.pendingActions.list({ status: 'pending' })) {
    held += 1;
    console.log(`${action?.toolName} is held; a person approves it.`);
    await client.guardian.pendingActions.decide(id, { decision: 'approve' });
  }
}
console.log(`The assistant says: ${await run}\n`);

await recorder.close();
for await (const { category, payload } of client.sessions.events('release-2.4.0')) {
  const outcome = String(payload?.responseStatus ?? payload?.decision);
  console.log(`${category?.padEnd(18)} ${outcome.padEnd(17)} ${payload?.toolName}`);
}
model.close();
await server.close();
await rm(folder, { recursive: true, force: true, maxRetries: 5 });
