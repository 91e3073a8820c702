// An MCP server for the files of a team, and an agent that uses it. The server checks every call: reading is allowed,
// deleting needs approval, and payroll files are denied. Both record, each with its own recorder as in two processes, and
// each call is one event of the agent in its session.
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { Actlog } from '@actlog/client';
import { actlog } from '@actlog/mcp';
import { Recorder } from '@actlog/recorder';
import { startServer } from '@actlog/server';
import { Client } from '@modelcontextprotocol/client';
import { InMemoryTransport, McpServer } from '@modelcontextprotocol/server';
import * as z from 'zod';

const files = new Map([
  ['notes.md', 'Ship on Friday.'],
  ['old-notes.md', 'Ship on Monday.'],
]);
const text = (words: string) => ({ content: [{ type: 'text' as const, text: words }] });

const folder = await mkdtemp(join(tmpdir(), 'actlog-mcp-'));
const service = await startServer({ port: 0 });
const client = new Actlog({ baseURL: service.url, apiKey: service.apiKey });
await client.policies.create({
  name: 'payroll files are not deleted',
  effect: 'deny',
  match: { tools: ['*payroll*'] },
  message: 'The payroll is for people only.',
});
await client.policies.create({
  name: 'ask before deleting',
  effect: 'require_approval',
  match: { tools: ['delete_*'] },
});
const connection = { baseURL: service.url, apiKey: service.agentKey, spoolDir: join(folder, 'spool') };
const guard = { mode: 'enforce', onUnavailable: 'deny' } as const;
const ofServer = new Recorder({ ...connection, agentId: 'file-server', guard });
const ofAgent = new Recorder({ ...connection, agentId: 'desk-agent' });

// The one line. Tools may be registered before or after it.
const server = actlog(new McpServer({ name: 'files', version: '1.0.0' }), { recorder: ofServer });
const file = z.object({ name: z.string() });
server.registerTool('read_file', { description: 'Read a file.', inputSchema: file }, ({ name }) => {
  const found = files.get(name);
  if (found === undefined) throw Object.assign(new Error(`There is no ${name}.`), { status: 404 });
  return text(found);
});
server.registerTool('delete_file', { description: 'Delete a file.', inputSchema: file }, ({ name }) =>
  text(files.delete(name) ? `${name} is gone` : `There is no ${name}.`),
);
server.registerTool('open_payroll', { description: 'Open the payroll.' }, () => text('42'));

const agent = actlog(new Client({ name: 'desk-agent', version: '1.0.0' }), {
  recorder: ofAgent,
  sessionId: 'desk-12',
});
const [agentSide, serverSide] = InMemoryTransport.createLinkedPair();
await server.connect(serverSide);
await agent.connect(agentSide);

async function use(name: string, args = {}) {
  const { content } = await agent.callTool({ name, arguments: args });
  console.log(`${name}: ${content.map((part) => ('text' in part ? part.text : part.type)).join(' ')}`);
}

await use('read_file', { name: 'notes.md' });
await use('read_file', { name: 'nowhere.md' });
await use('open_payroll');
const deleting = use('delete_file', { name: 'old-notes.md' });
await approveNext(); // in place of an approver
await deleting;

for (const recorder of [ofAgent, ofServer]) await recorder.close();
console.log('\nOne event per call:');
for await (const { agentId, payload } of client.sessions.events('desk-12')) {
  console.log(`  ${agentId}  ${payload?.responseStatus ?? payload?.decision}  ${payload?.toolName}`);
}
await agent.close();
await service.close();
await rm(folder, { recursive: true, force: true });

async function approveNext() {
  for (let turn = 0; turn < 1000; turn += 1) {
    const [held] = await client.guardian.pendingActions.list({ status: 'pending' }).toArray({ limit: 1 });
    if (held) return client.guardian.pendingActions.decide(held.id, { decision: 'approve' });
  }
  throw new Error('Nothing was held.');
}
