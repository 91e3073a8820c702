import { createInterface } from 'node:readline/promises';
import type { PendingAction } from '@actlog/client';
import { write } from '../output/print.ts';
import { readKey } from '../terminal/read-key.ts';

/** Choice of an approver: a decision, or `skip` to decide later, or `quit`. */
export type Choice =
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
export async function askApprover(
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
