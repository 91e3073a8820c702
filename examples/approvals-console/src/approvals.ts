// The approver's command:
//
//   approvals list                             lists held actions, oldest first
//   approvals watch                            lists them, and prints changes until Ctrl-C
//   approvals approve ID [--comment TEXT]
//   approvals deny ID [--comment TEXT]
//
// It reads ACTLOG_BASE_URL and ACTLOG_API_KEY; the key needs the scopes `read` and `decide`. Exit codes: 0 success, 1
// rejected by the service, 2 invalid arguments.
import { parseArgs } from 'node:util';
import { Actlog, ActlogError, ConflictError } from '@actlog/client';
import { actionLine, endLine } from './action-line.ts';
import { watch } from './watch.ts';

const { positionals, values } = parseArgs({
  allowPositionals: true,
  options: { comment: { type: 'string' }, 'every-ms': { type: 'string', default: '2000' } },
});
const [command, id] = positionals;
const client = new Actlog();

// Ctrl-C aborts the pending request, and the process exits normally.
const interrupted = new AbortController();
process.once('SIGINT', () => interrupted.abort());
const { signal } = interrupted;

try {
  if (command === 'list') await list();
  else if (command === 'watch') await follow();
  else if (command === 'approve' && id) await decide(id, 'approve');
  else if (command === 'deny' && id) await decide(id, 'deny');
  else {
    console.error('approvals list | watch | approve ID [--comment TEXT] | deny ID [--comment TEXT]');
    process.exitCode = 2;
  }
} catch (error) {
  if (!signal.aborted) {
    if (!(error instanceof ActlogError)) throw error;
    console.error(error instanceof ConflictError ? `Too late: ${error.message}` : error.message);
    process.exitCode = 1;
  }
}

async function list(): Promise<void> {
  const held = await client.guardian.pendingActions.list({ limit: 200 }, { signal }).toArray();
  for (const action of held.toReversed()) console.log(actionLine(action, Date.now()));
  if (held.length === 0) console.log('No held actions.');
}

async function follow(): Promise<void> {
  for await (const { kind, action } of watch(client, signal, Number(values['every-ms']))) {
    console.log(kind === 'held' ? `+ ${actionLine(action, Date.now())}` : `- ${endLine(action)}`);
  }
}

async function decide(actionId: string, decision: 'approve' | 'deny'): Promise<void> {
  const { comment } = values;
  const body = { decision, ...(comment && { comment }) };
  console.log(endLine(await client.guardian.pendingActions.decide(actionId, body, { signal })));
}
