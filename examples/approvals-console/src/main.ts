// A console for approvers of held actions: `approvals.ts` is the command. This program runs an agent with two actions that
// need approval, and uses the command like a person: it watches, approves one action, denies the other, tries to decide
// again, and exits with Ctrl-C.
import { Actlog } from '@actlog/client';
import { ActionDeniedError, Recorder } from '@actlog/recorder';
import { startServer } from '@actlog/server';
import { ConsoleProcess } from './console-process.ts';

const server = await startServer({ port: 0 });
const client = new Actlog({ baseURL: server.url, apiKey: server.apiKey });
await client.policies.create({
  name: 'Changes to production need approval',
  effect: 'require_approval',
  match: { tools: ['deploy', 'delete_*'] },
  approval: { timeoutSeconds: 1800, onTimeout: 'deny' },
});
const recorder = new Recorder({
  baseURL: server.url,
  apiKey: server.agentKey,
  agentId: 'release-agent',
  spool: false,
  guard: {
    mode: 'enforce',
    onUnavailable: 'deny',
    showArguments: (args) => args as Record<string, unknown>, // no secrets in this example
  },
});
const session = recorder.session('release-4.2');

/** Runs a tool call of the agent and returns the outcome. */
function ask(toolName: string, args: Record<string, unknown>): Promise<string> {
  const call = session.toolCall({ toolName, arguments: args }, () => 'done');
  return call.catch((error: unknown) =>
    ActionDeniedError.isInstance(error) ? 'denied' : Promise.reject(error),
  );
}

const key = await server.admin.keys.create('default', { name: 'on duty', scopes: ['read', 'decide'] });
const env = { ...process.env, ACTLOG_BASE_URL: server.url, ACTLOG_API_KEY: key.apiKey };

/** Runs the command to its end and returns the exit code. */
function run(...args: readonly string[]): Promise<number | null> {
  console.log(`\n$ approvals ${args.join(' ')}`);
  return new ConsoleProcess(args, env).exitCode();
}

console.log('$ approvals watch');
const watching = new ConsoleProcess(['watch', '--every-ms', '200'], env);
const deployed = ask('deploy', { service: 'checkout', version: '4.2.0' });
const deleted = ask('delete_volume', { volume: 'checkout-data' });
const lines = await watching.shows(/^\+ /, 2);
const idOf = (toolName: string) => lines.find((line) => line.includes(` ${toolName} `))?.split(' ')[1] ?? '';

const codes = [
  await run('list'),
  await run('approve', idOf('deploy'), '--comment', 'Tests are green.'),
  await run('deny', idOf('delete_volume'), '--comment', 'Not without a backup.'),
  await run('approve', idOf('delete_volume')),
  await run('list'),
];
await watching.shows(/^- /, 2);
watching.interrupt();
codes.push(await watching.exitCode());

const outcome = `${await deployed} ${await deleted}`;
console.log(`\nThe agent's deployment: ${outcome.split(' ')[0]}. Its deletion: ${outcome.split(' ')[1]}.`);
if (outcome !== 'done denied' || codes.join() !== '0,0,0,1,0,0') {
  console.error(`Expected done, denied and the exit codes 0,0,0,1,0,0; got ${outcome} and ${codes.join()}.`);
  process.exitCode = 1;
}
await recorder.close();
await server.close();
