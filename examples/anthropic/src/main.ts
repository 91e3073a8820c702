// An agent on the Anthropic SDK's tool runner restarts a service and tries to drop its database, which a policy denies.
import { actlog } from '@actlog/anthropic';
import { Actlog } from '@actlog/client';
import { Recorder } from '@actlog/recorder';
import { startServer } from '@actlog/server';
import Anthropic from '@anthropic-ai/sdk';
import { betaZodTool } from '@anthropic-ai/sdk/helpers/beta/zod';
import * as z from 'zod';
import { scriptedFetch, toolUse, webSearch } from './scripted-service.ts';

const server = await startServer({ port: 0 });
const actlogClient = new Actlog({ baseURL: server.url, apiKey: server.apiKey });
await actlogClient.policies.create({
  name: 'nobody drops a database',
  effect: 'deny',
  match: { tools: ['drop_database'] },
  message: 'Databases are dropped by hand only.',
});
const recorder = new Recorder({
  baseURL: server.url,
  apiKey: server.agentKey,
  agentId: 'on-call',
  spool: false,
  guard: { mode: 'enforce', onUnavailable: 'deny' },
});

const services = new Map([['checkout', 'hanging']]);
const service = z.object({ service: z.string() });
const tools = [
  betaZodTool({
    name: 'get_status',
    description: 'Tell the status of a service.',
    inputSchema: service,
    run: (input) => services.get(input.service) ?? 'There is no such service.',
  }),
  betaZodTool({
    name: 'restart',
    description: 'Restart a service.',
    inputSchema: service,
    run: (input) => {
      services.set(input.service, 'running');
      return 'restarted';
    },
  }),
  betaZodTool({
    name: 'drop_database',
    description: 'Drop the database of a service.',
    inputSchema: service,
    run: () => 'dropped',
  }),
];

const turns = [
  [...webSearch('checkout hangs after deploy'), toolUse('get_status', { service: 'checkout' })],
  [toolUse('restart', { service: 5 })], // invalid arguments
  [toolUse('restart', { service: 'checkout' })],
  [toolUse('drop_database', { service: 'checkout' }), toolUse('page_someone', {})], // the last one is an unknown tool
];
const client = new Anthropic({
  apiKey: 'none: the responses are scripted',
  fetch: scriptedFetch(turns, 'Checkout runs again. Its database stays.'),
  middleware: [actlog.middleware({ recorder })], // for calls that reach no tool
});
const message = await client.beta.messages.toolRunner(
  {
    model: 'claude-opus-4-8',
    max_tokens: 1024,
    messages: [{ role: 'user', content: 'Checkout hangs. Get it going again.' }],
    tools: actlog(tools, { recorder }), // the one line
  },
  { openTelemetry: { conversationId: 'incident-12' } },
);
for (const block of message.content)
  if (block.type === 'text') console.log(`The agent says: ${block.text}\n`);

await recorder.close();
for await (const { category, payload } of actlogClient.sessions.events('incident-12')) {
  if (category === 'tool_api') console.log(`${payload?.responseStatus}  ${payload?.toolName}`);
}
console.log(`\ncheckout is ${services.get('checkout')}.`);
await server.close();
