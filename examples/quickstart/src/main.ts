// The complete path: a server, a LangChain agent with one line of actlog, and a report from the service. `--keep` keeps
// the server running afterwards.
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { Actlog } from '@actlog/client';
import { actlog } from '@actlog/langchain';
import { Recorder } from '@actlog/recorder';
import { startServer } from '@actlog/server';
import { createAgent } from 'langchain';
import { conversations, scriptedModel } from './conversations.ts';
import { recordMonth } from './month.ts';
import { report } from './report.ts';
import { openShop } from './shop.ts';
import { supportTools } from './tools.ts';

const folder = await mkdtemp(join(tmpdir(), 'actlog-quickstart-'));
await writeFile(join(folder, 'refund-rules.md'), 'Parcels lost in the post are refunded in full.\n');
const shop = await openShop();
const server = await startServer({ port: 0 });
console.log(`A server for this demo listens on ${server.url}`);

const client = new Actlog({ baseURL: server.url, apiKey: server.apiKey });
const recorder = new Recorder({
  baseURL: server.url,
  apiKey: server.agentKey,
  spoolDir: join(folder, 'spool'),
});

for (const conversation of conversations) {
  const agent = createAgent({
    model: scriptedModel(conversation),
    tools: supportTools(shop.url, folder),
    middleware: [actlog({ recorder, agentId: conversation.agentId })], // the one line
  });
  console.log(`\nThe agent runs: ${conversation.title}`);
  await agent.invoke(
    { messages: [{ role: 'user', content: conversation.question }] },
    { configurable: { thread_id: conversation.threadId } },
  );
}

const { delivered, dropped, pending } = await recorder.close();
console.log(`\n${delivered} events delivered, ${pending} pending, ${dropped} dropped.`);
await report(client);

console.log(`
These agents have no past yet, so "medium" begins late: docs/risk.md says what scores and levels mean.

Where to look next
  npm start -- --keep   leaves the server up, for these sessions in the browser and in \`npx actlog\`
  docs/                 the guides: iterating sessions, holding risky calls, running the service
  examples/quickstart   this program, to copy from`);

await shop.close();
await rm(folder, { recursive: true, force: true });
if (process.argv.includes('--keep')) {
  const recorded = await recordMonth(client);
  console.log(`
A month of ${recorded} more events was recorded, made up for five agents.
The server stays up until Ctrl+C ends it.
  ${server.url}/console/#key=${server.apiKey}   the overview, in the browser
  ${server.url}/openapi.json   the service's API

In a second terminal:
  export ACTLOG_BASE_URL=${server.url} ACTLOG_API_KEY=${server.apiKey}
  npx actlog sessions list
  npx actlog sessions tail`);
} else {
  await server.close();
}
