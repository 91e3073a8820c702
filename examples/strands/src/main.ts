// An on-call agent built with Strands: it may read and restart services, but never drop a database. The service's policies
// define this, and one line in the agent applies them.
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { Actlog } from '@actlog/client';
import { Recorder } from '@actlog/recorder';
import { startServer } from '@actlog/server';
import { actlog } from '@actlog/strands';
import { Agent, tool } from '@strands-agents/sdk';
import * as z from 'zod';
import { ScriptedModel } from './scripted-model.ts';

const services = new Map([
  ['checkout', 'down: connection pool exhausted'],
  ['search', 'up'],
]);

const tools = [
  tool({
    name: 'service_status',
    description: 'Tell how a service is doing.',
    inputSchema: z.object({ service: z.string() }),
    callback: ({ service }) => services.get(service) ?? 'unknown service',
  }),
  tool({
    name: 'restart_service',
    description: 'Restart a service.',
    inputSchema: z.object({ service: z.string() }),
    callback: ({ service }) => {
      services.set(service, 'up');
      return `${service} was restarted`;
    },
  }),
  tool({
    name: 'drop_database',
    description: 'Drop a database.',
    inputSchema: z.object({ database: z.string() }),
    callback: ({ database }) => `${database} is gone`,
  }),
];

const folder = await mkdtemp(join(tmpdir(), 'actlog-strands-'));
const server = await startServer({ port: 0 });
const client = new Actlog({ baseURL: server.url, apiKey: server.apiKey });
await client.policies.create({
  name: 'databases are not dropped',
  effect: 'deny',
  match: { tools: ['drop_*'] },
  message: 'Databases are dropped by people only.',
});
const guard = { mode: 'enforce', onUnavailable: 'deny' } as const;
const recorder = new Recorder({
  baseURL: server.url,
  apiKey: server.agentKey,
  guard,
  spoolDir: join(folder, 'spool'),
});

const agent = new Agent({
  id: 'on-call',
  model: new ScriptedModel(
    [
      { name: 'service_status', input: { service: 'checkout' } },
      { name: 'drop_database', input: { database: 'checkout' } }, // a bad idea
      { name: 'restart_service', input: { service: 'checkout' } },
    ],
    'The checkout is up again.',
  ),
  tools,
  interventions: [actlog({ recorder, sessionId: 'incident-42' })], // the one line
  printer: false,
});
const { lastMessage } = await agent.invoke('The checkout is down. Bring it back.');
console.log(
  `The agent says: ${lastMessage.content.map((block) => ('text' in block ? block.text : '')).join('')}`,
);

const { delivered } = await recorder.close();
console.log(`${delivered} calls recorded:`);
for await (const { agentId, category, payload } of client.sessions.events('incident-42')) {
  console.log(
    `  ${agentId}  ${category}  ${payload?.responseStatus ?? payload?.decision}  ${payload?.toolName}`,
  );
}
await server.close();
await rm(folder, { recursive: true, force: true });
