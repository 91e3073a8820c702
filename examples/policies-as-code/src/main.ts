// The policies of this folder on their way to a service, as the workflows do it: test, plan, apply, and a drift check
// that finds a change which was made elsewhere.
import { join } from 'node:path';
import { Actlog } from '@actlog/client';
import { startServer } from '@actlog/server';
import { run } from 'actlog';

const policies = join(import.meta.dirname, '..', 'policies');
const server = await startServer({ port: 0, database: ':memory:' });
process.env.ACTLOG_BASE_URL = server.url;
process.env.ACTLOG_API_KEY = server.apiKey;

/** Runs a command, and stops the program if its exit code is another one. */
async function expectExit(exitCode: number, ...args: string[]): Promise<void> {
  console.log(`\n$ actlog policies ${args.join(' ')}`);
  const actual = await run(['policies', ...args, policies]);
  if (actual === exitCode) return;
  await server.close();
  throw new Error(`"actlog policies ${args[0]}" exited with ${actual} instead of ${exitCode}.`);
}

await expectExit(0, 'test');
await expectExit(2, 'plan', '--prune', '--exit-code');
await expectExit(0, 'apply', '--prune', '--yes');
await expectExit(0, 'plan', '--prune', '--exit-code');

const client = new Actlog({ baseURL: server.url, apiKey: server.apiKey });
const action = { toolName: 'refund', argumentsHash: 'sha256:00', arguments: { amount: 900 } };
const { decision } = await client.policies.check({ agentId: 'support-eu', action }, { dryRun: true });
console.log(`\nThe service decides a refund of 900: ${decision}`);

// A change in the console instead of the repository: the drift check finds it, and the next run of `apply` reverts it.
for await (const { id, name } of client.policies.list()) {
  if (name === 'No deletions in production') await client.policies.update(id, { mode: 'log_only' });
}
await client.policies.create({ name: 'Temporary', effect: 'allow' });
await expectExit(2, 'plan', '--prune', '--exit-code');
await expectExit(0, 'apply', '--prune', '--yes');
await expectExit(0, 'plan', '--prune', '--exit-code');

await server.close();
if (decision !== 'require_approval') {
  console.error('Expected the service to decide as the tests do.');
  process.exitCode = 1;
}
