import { emitKeypressEvents, type Key } from 'node:readline';
import { createInterface } from 'node:readline/promises';
import type { Actlog, PendingAction } from '@actlog/client';
import { type ApprovalGrant, listGrants, revokeGrant } from '@actlog/client/server';
import { Command, Option } from 'commander';
import { type ClientFlags, clientCommand } from '../command/client-command.ts';
import { connect } from '../connection/connect.ts';
import { parseDuration } from '../options/duration.ts';
import { addLimitOption, type LimitFlags, pageSizeFor } from '../options/numbers.ts';
import { formatOf, jsonText } from '../output/format.ts';
import { localTime } from '../output/local-time.ts';
import { note, print, write } from '../output/print.ts';
import { printList } from '../output/print-list.ts';
import { type Detail, printDetails, printRecord } from '../output/print-record.ts';
import { printable } from '../output/printable.ts';
import { styled } from '../output/style.ts';
import type { Column } from '../output/table.ts';
import { type Interruption, untilInterrupted } from '../terminal/confirm.ts';
import { actionColumns, actionDetails } from './action-columns.ts';
import { addGuardianDecisions } from './decide.ts';

/** Creates the command `guardian`. */
export function guardianCommand(): Command {
  const guardian = new Command('guardian').description(
    'Lists, watches and decides held actions, and revokes grants for later ones. Needs a key with the scope decide, such as the admin key that `actlog serve` prints.',
  );
  addGuardianList(guardian);
  addGuardianWatch(guardian);
  addGuardianDecisions(guardian);
  addGuardianGrants(guardian);
  return guardian;
}

const statuses = ['pending', 'approved', 'denied', 'expired', 'withdrawn'] as const;

interface ListFlags extends ClientFlags, LimitFlags {
  readonly status: (typeof statuses)[number];
  readonly agent?: string;
  readonly session?: string;
}

/** Adds `guardian list`. */
function addGuardianList(parent: Command): void {
  const command = clientCommand(parent, {
    usage: 'list',
    description: 'list held actions, newest first',
    examples: [
      'actlog guardian list',
      ['actlog guardian list --status denied --agent billing', 'past decisions'],
    ],
  })
    .optionsGroup('Filters:')
    .addOption(
      new Option('--status <status>', 'only actions with this status').choices(statuses).default('pending'),
    )
    .option('--agent <id>', 'only actions of this agent')
    .option('--session <id>', 'only actions of this session');
  addLimitOption(command, 'actions').action(async (flags: ListFlags) => {
    const client = await connect(flags);
    const { status, agent: agentId, session: sessionId, limit } = flags;
    const query = { status, agentId, sessionId, limit: pageSizeFor(limit) };
    await printList(client.guardian.pendingActions.list(query), {
      columns: actionColumns,
      flags,
      noun: `${status} actions`,
    });
  });
}

interface GrantFlags extends ClientFlags, LimitFlags {
  readonly agent?: string;
  readonly session?: string;
  readonly all?: true;
}

function usesText({ uses, maxUses }: ApprovalGrant): string {
  return maxUses === null ? String(uses) : `${uses} of ${maxUses}`;
}

function statusStyle({ status }: ApprovalGrant) {
  return status === 'active' ? 'green' : 'dim';
}

const grantColumns: readonly Column<ApprovalGrant>[] = [
  { title: 'GRANT', value: ({ id }) => id, minWidth: 36 },
  { title: 'STATUS', value: ({ status }) => status, style: statusStyle },
  { title: 'TOOL', value: ({ toolName }) => toolName, style: () => 'bold', minWidth: 10 },
  { title: 'FOR', value: (grant) => grant.for },
  { title: 'USED', value: usesText, minWidth: 4 },
  { title: 'ENDS', value: ({ expiresAt }) => localTime(expiresAt), minWidth: 19 },
  { title: 'SESSION', value: ({ sessionId }) => sessionId },
  { title: 'AGENT', value: ({ agentId }) => agentId },
];

function grantDetails(grant: ApprovalGrant): Detail[] {
  return [
    ['grant', grant.id, 'bold'],
    ['status', grant.status, statusStyle(grant)],
    ['tool', grant.toolName, 'bold'],
    ['for', grant.for === 'action' ? 'the same action' : 'any call of the tool'],
    ['session', grant.sessionId],
    ['agent', grant.agentId],
    ['principal', grant.principal],
    ['used', usesText(grant)],
    ['granted by', grant.grantedByPrincipal ?? grant.grantedBy],
    ['created', localTime(grant.createdAt)],
    ['ends', localTime(grant.expiresAt)],
    ['revoked', revocationText(grant)],
  ];
}

function revocationText({ revokedAt, revokedBy, revokedByPrincipal }: ApprovalGrant): string | undefined {
  if (revokedAt === null) return undefined;
  return `${localTime(revokedAt)} by ${revokedByPrincipal ?? revokedBy}`;
}

/** Adds `guardian grants` and `guardian revoke`. */
function addGuardianGrants(parent: Command): void {
  const list = clientCommand(parent, {
    usage: 'grants',
    description: 'list the grants of approvers for later actions, newest first',
    examples: [
      'actlog guardian grants',
      ['actlog guardian grants --all --session s-1', 'also those that ended'],
    ],
  })
    .optionsGroup('Filters:')
    .option('--agent <id>', 'only grants for actions of this agent')
    .option('--session <id>', 'only grants for actions of this session')
    .addOption(new Option('--all', 'also grants that have expired or were revoked'));
  addLimitOption(list, 'grants').action(async (flags: GrantFlags) => {
    const client = await connect(flags);
    const filters = {
      agentId: flags.agent,
      sessionId: flags.session,
      valid: flags.all ? undefined : true,
      limit: pageSizeFor(flags.limit),
    };
    await printList(listGrants(client, filters), { columns: grantColumns, flags, noun: 'grants' });
  });
  clientCommand(parent, {
    usage: 'revoke <grant>',
    description: 'end a grant; later actions need an approval again',
    examples: ['actlog guardian revoke grt_0198c1d2e3f47a5b8c6d7e8f90a1b2c3'],
  }).action(async (id: string, flags: ClientFlags) => {
    const grant = await revokeGrant(await connect(flags), id);
    await printRecord(grant, grantDetails(grant), flags);
  });
}

interface WatchFlags extends ClientFlags {
  readonly agent?: string;
  readonly session?: string;
  readonly interval: number;
}

/** Adds `guardian watch`. */
function addGuardianWatch(parent: Command): void {
  clientCommand(parent, {
    usage: 'watch',
    description:
      'show each held action as it comes, and in a terminal approve or deny it by a key press; in a pipe, print one JSON value on each line',
    examples: [
      ['actlog guardian watch', 'approve and deny in the terminal, until q or Ctrl+C'],
      ["actlog guardian watch | jq -r '.action.toolName'", 'for a script'],
    ],
  })
    .optionsGroup('Filters:')
    .option('--agent <id>', 'only actions of this agent')
    .option('--session <id>', 'only actions of this session')
    .addOption(
      new Option('--interval <duration>', 'delay between two requests while actions come')
        .argParser(parseDuration)
        .default(1000, '1s'),
    )
    .action((flags: WatchFlags) =>
      untilInterrupted(async (interruption) => watch(await connect(flags), flags, interruption)),
    );
}

async function watch(client: Actlog, flags: WatchFlags, interruption: Interruption): Promise<void> {
  const { agent: agentId, session: sessionId, interval: intervalMs } = flags;
  const { signal } = interruption;
  const isInteractive = Boolean(process.stdin.isTTY && process.stdout.isTTY) && formatOf(flags) === 'table';
  if (isInteractive) note('Waiting for held actions. Ctrl+C ends it.');
  const actions = client.guardian.pendingActions;
  for await (const action of actions.watch({ signal, agentId, sessionId, intervalMs })) {
    if (!isInteractive) await print(jsonText(action));
    else if (!(await decide(client, action, interruption))) return;
  }
}

/** Shows an action and carries out the approver's choice. Returns `false` if the approver quits. */
async function decide(client: Actlog, action: PendingAction, interruption: Interruption): Promise<boolean> {
  await print('');
  await printDetails(actionDetails(action));
  const choice = await askApprover(action, interruption.signal, () => interruption.interrupt());
  if (choice === 'quit') return false;
  if (choice === 'expired') await print(styled('dim', 'It expired without a decision.'));
  if (choice === 'skip') await print(styled('dim', 'Skipped: it stays pending.'));
  if (typeof choice === 'string') return true;
  try {
    const { status } = await client.guardian.pendingActions.decide(action.id, choice);
    const outcome = status ?? (choice.decision === 'approve' ? 'approved' : 'denied');
    await print(styled(choice.decision === 'approve' ? 'green' : 'red', `It is ${printable(outcome)}.`));
  } catch (error) {
    // Another approver was faster, or the time is over.
    if ((error as { status?: unknown }).status !== 409) throw error;
    note(printable((error as Error).message));
  }
  return true;
}

/** Choice of an approver: a decision, or `skip` to decide later, or `quit`. */
type Choice =
  | { readonly decision: 'approve' | 'deny'; readonly comment?: string }
  | 'skip'
  | 'quit'
  | 'expired';

/** Longest delay of a timer, in milliseconds. */
const longestTimerMs = 2_147_483_647;

/**
 * Asks the person at the terminal about a held action, by one key press.
 *
 * @param interrupt - called for Ctrl+C, which the terminal reports as a key meanwhile
 * @returns the choice; `expired` when the action expires first
 */
async function askApprover(
  { expiresAt }: PendingAction,
  signal: AbortSignal,
  interrupt: () => void,
): Promise<Choice> {
  const remainingMs = Date.parse(expiresAt ?? '') - Date.now();
  const expiry = new AbortController();
  const timer = Number.isFinite(remainingMs)
    ? setTimeout(() => expiry.abort(), Math.min(Math.max(0, remainingMs), longestTimerMs))
    : undefined;
  const either = AbortSignal.any([signal, expiry.signal]);
  let comment: string | undefined;
  try {
    for (;;) {
      await write('[a]pprove  [d]eny  [c]omment first  [s]kip  [q]uit ');
      const key = await readKey(either);
      await write('\n');
      if (key === 'ctrl+c') interrupt();
      if (signal.aborted || key === 'ctrl+c' || key === 'q') return 'quit';
      if (expiry.signal.aborted) return 'expired';
      if (key === 's') return 'skip';
      if (key === 'c') comment = await askComment(either, interrupt);
      else if (key === 'a' || key === 'd') {
        return { decision: key === 'a' ? 'approve' : 'deny', ...(comment ? { comment } : {}) };
      } else if (key === undefined) return 'quit'; // the input has ended
    }
  } finally {
    clearTimeout(timer);
  }
}

async function askComment(signal: AbortSignal, interrupt: () => void): Promise<string | undefined> {
  const readline = createInterface({ input: process.stdin, output: process.stdout });
  readline.once('SIGINT', interrupt);
  try {
    return (await readline.question('Comment, which the model reads: ', { signal })).trim() || undefined;
  } catch {
    return undefined; // aborted: the caller looks at its signal
  } finally {
    readline.close();
  }
}

/**
 * Reads one key press from the terminal, without Enter. The terminal has its usual mode again afterwards.
 *
 * @returns the character of the key, `ctrl+c`, or `undefined` when the signal was aborted or the input ended
 */
function readKey(signal: AbortSignal): Promise<string | undefined> {
  const { stdin } = process;
  return new Promise((resolve) => {
    const end = (key: string | undefined) => {
      stdin.off('keypress', onKey);
      stdin.off('end', onAbort);
      signal.removeEventListener('abort', onAbort);
      stdin.setRawMode(false);
      stdin.pause();
      resolve(key);
    };
    const onAbort = () => end(undefined);
    const onKey = (text: string | undefined, { name, ctrl }: Key) => {
      if (ctrl && name === 'c') end('ctrl+c');
      else if (text !== undefined && !ctrl) end(text.toLowerCase());
    };
    if (signal.aborted) return resolve(undefined);
    emitKeypressEvents(stdin);
    stdin.on('keypress', onKey);
    stdin.once('end', onAbort);
    signal.addEventListener('abort', onAbort, { once: true });
    stdin.setRawMode(true);
    stdin.resume();
  });
}
