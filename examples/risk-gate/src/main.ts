// A CI gate for the actions of an agent in its tests. A job runs `gate.ts`; this program records two test runs, one good
// and one bad, and runs the gate for each, and for a run without events.
import { execFile } from 'node:child_process';
import { mkdtemp, readFile, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { Recorder } from '@actlog/recorder';
import { startServer } from '@actlog/server';

const server = await startServer({ port: 0 });
const recorder = new Recorder({
  baseURL: server.url,
  apiKey: server.agentKey,
  agentId: 'mail-agent',
  spool: false,
});

/** Runs a test of the agent with stub tools, which are recorded as in production. */
async function agentTest(sessionId: string, toolNames: readonly string[]): Promise<void> {
  const session = recorder.session(sessionId);
  for (const toolName of toolNames) {
    await session.toolCall({ toolName, arguments: { test: sessionId } }, () => 'ok');
  }
}
await agentTest('ci-481-reads-order', ['get_order', 'get_customer']);
await agentTest('ci-481-sums-up', ['get_order', 'get_order', 'get_invoice']);
await agentTest('ci-482-reads-order', ['get_order', 'get_customer']);
await agentTest('ci-482-cleans-up', ['get_order', 'drop_table']);
await agentTest('ci-482-mail', [
  'read_inbox',
  'search_contacts',
  'download_attachment',
  'execute_command',
  'post_to_slack',
  'delete_email',
]);
await recorder.close(); // the gate only sees delivered events

const folder = await mkdtemp(join(tmpdir(), 'actlog-risk-gate-'));
const reader = await server.admin.keys.create('default', { name: 'risk gate', scopes: ['read'] });
const env = { ...process.env, ACTLOG_BASE_URL: server.url, ACTLOG_API_KEY: reader.apiKey };
const gate = fileURLToPath(import.meta.resolve('./gate.ts'));

/** Runs the gate like a job, and returns its exit code. */
function runGate(run: string): Promise<number | null> {
  const files = ['--junit', join(folder, `${run}.xml`), '--summary', join(folder, `${run}.md`)];
  const args = [gate, '--prefix', `${run}-`, '--fail-at', 'medium', '--forbid', 'drop_table', ...files];
  return new Promise((resolve) => {
    const child = execFile(process.execPath, [...process.execArgv, ...args], { env }, (_, stdout, stderr) => {
      console.log(`\n$ gate --prefix ${run}- --fail-at medium --forbid drop_table\n${stdout}${stderr}`);
      resolve(child.exitCode);
    });
  });
}

const codes = [await runGate('ci-481'), await runGate('ci-482'), await runGate('ci-999')];
const [good, bad] = [
  await readFile(join(folder, 'ci-481.xml'), 'utf8'),
  await readFile(join(folder, 'ci-482.xml'), 'utf8'),
];
console.log(await readFile(join(folder, 'ci-482.md'), 'utf8'));

if (codes.join() !== '0,1,2' || !good.includes('failures="0"') || !bad.includes('tests="3" failures="2"')) {
  console.error(
    `The gate ended with ${codes.join(', ')}: it should pass, fail, and refuse to judge nothing.`,
  );
  process.exitCode = 1;
}
await server.close();
await rm(folder, { recursive: true, force: true });
