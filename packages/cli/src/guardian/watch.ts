import { emitKeypressEvents, type Key } from 'node:readline';
import { createInterface } from 'node:readline/promises';
import type { Actlog, PendingAction } from '@actlog/client';
import { type Command, Option } from 'commander';
import { type ClientFlags, clientCommand } from '../command/client-command.ts';
import { connect } from '../connection/connect.ts';
import { parseDuration } from '../options/duration.ts';
import { formatOf, jsonText } from '../output/format.ts';
import { note, print, write } from '../output/print.ts';
import { printDetails } from '../output/print-record.ts';
import { printable } from '../output/printable.ts';
import { styled } from '../output/style.ts';
import { type Interruption, untilInterrupted } from '../terminal/confirm.ts';
import { actionDetails } from './action-columns.ts';

interface Flags extends ClientFlags {
  readonly agent?: string;
  readonly session?: string;
  readonly interval: number;
}

/** Adds `guardian watch`. */
export function addGuardianWatch(parent: Command): void {
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
    .action((flags: Flags) =>
      untilInterrupted(async (interruption) => watch(await connect(flags), flags, interruption)),
    );
}

async function watch(client: Actlog, flags: Flags, interruption: Interruption): Promise<void> {
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
