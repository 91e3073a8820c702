// The complete path: a server, a LangChain agent with one line of actlog, and a report from the service. `--keep` keeps
// the server running afterwards, `--verbose` shows how a score comes about, `--timings` how long each phase took.
import { mkdir, mkdtemp, rm, writeFile } from 'node:fs/promises';
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

const options = new Set(process.argv.slice(2));
const phases: (readonly [name: string, endedAtMs: number])[] = [['loading', performance.now()]];
const endPhase = (name: string) => phases.push([name, performance.now()]);

const folder = await mkdtemp(join(tmpdir(), 'actlog-quickstart-'));
await writeFile(join(folder, 'refund-rules.md'), 'Parcels lost in the post are refunded in full.\n');
const shop = await openShop();
const server = await startServer({ port: 0 });
console.log(`A server for this demo listens on ${server.url}.`);
endPhase('server');

const client = new Actlog({ baseURL: server.url, apiKey: server.apiKey });
const recorder = new Recorder({
  baseURL: server.url,
  apiKey: server.agentKey,
  spoolDir: join(folder, 'spool'),
  origins: true, // where the arguments of calls came from, without their values
});

for (const conversation of conversations) {
  const agent = createAgent({
    model: scriptedModel(conversation),
    tools: supportTools(shop.url, folder),
    middleware: [actlog({ recorder, agentId: conversation.agentId })], // the one line
  });
  console.log(`A LangChain agent runs: ${conversation.title}.`);
  await agent.invoke(
    { messages: [{ role: 'user', content: conversation.question }] },
    { configurable: { thread_id: conversation.threadId } },
  );
}

const { delivered, dropped, pending } = await recorder.close();
const isComplete = pending === 0 && dropped === 0;
console.log(
  `${delivered} events recorded${isComplete ? ', none lost' : `, ${pending} pending, ${dropped} dropped`}.`,
);
endPhase('agents');
await report(client, { verbose: options.has('--verbose') });
endPhase('report');

await shop.close();
await rm(folder, { recursive: true, force: true });
if (options.has('--keep')) {
  await keepServer();
} else {
  await server.close();
  console.log(`
Next
  npm start -- --keep      the same in the console, with a month of made-up sessions
  npm start -- --verbose   how these scores come about
  docs/quick-start.md      your own agent, in a minute`);
}
if (options.has('--timings')) {
  console.log('\nTimings');
  let beganAtMs = 0;
  for (const [name, endedAtMs] of phases) {
    console.log(`  ${((endedAtMs - beganAtMs) / 1000).toFixed(1).padStart(6)} s  ${name}`);
    beganAtMs = endedAtMs;
  }
}

/** Adds a month of sessions, and lets the command of this checkout find the server until this process ends. */
async function keepServer(): Promise<void> {
  const recorded = await recordMonth(client);
  endPhase('month');
  const connection = join(import.meta.dirname, '../../../.actlog/demo.json');
  await mkdir(join(connection, '..'), { recursive: true });
  await writeFile(connection, JSON.stringify({ baseUrl: server.url, apiKey: server.apiKey }), {
    mode: 0o600,
  });
  for (const signal of ['SIGINT', 'SIGTERM'] as const) {
    process.once(signal, async () => {
      await rm(connection, { force: true });
      await server.close();
    });
  }
  console.log(`
Open the console
  ${server.url}/console/#key=${server.apiKey}

Try next, in a second terminal in this folder
  npx actlog overview
  npx actlog sessions list --order risk --limit 5
  npx actlog guardian list

A month of ${recorded} more calls was made up for five agents. Ctrl+C ends the server.`);
}
