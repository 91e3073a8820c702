import { createHash } from 'node:crypto';
import { processWide } from '../../lib/process-wide.ts';
import { type CallParams, callText } from './call-params.ts';

/** Time after which a call counts as given up, in milliseconds. */
const maxWaitMs = 10 * 60_000;
/** Maximum number of calls that wait. */
const maxWaiting = 1000;

/** End of the wait for a repetition. */
export type WaitEnd = 'repeated' | 'given-up';

interface WaitingCall {
  /** Digest of the key, because a key contains the arguments. */
  readonly digest: string;
  readonly owner: object;
  end(how: WaitEnd): void;
}

const waiting = processWide('@actlog/mcp/unrepeated-calls', () => {
  // The last chance to record them: nothing else keeps the process alive.
  process.on('beforeExit', () => giveUpCalls());
  return new Set<WaitingCall>();
});

/** Identifies the calls of one caller to one tool with the same arguments; undefined if they cannot be compared. */
export function repetitionKey(caller: readonly unknown[], params: CallParams): string | undefined {
  const call = callText(params);
  if (call === undefined) return undefined;
  return `${JSON.stringify(caller)}\n${call}`;
}

function digestOf(key: string): string {
  return createHash('sha256').update(key).digest('base64');
}

/** Ends the wait of the oldest call with this key: the call that runs now repeats it. */
export function repeatCall(key: string): void {
  if (waiting().size === 0) return;
  const digest = digestOf(key);
  for (const call of waiting()) {
    if (call.digest !== digest) continue;
    call.end('repeated');
    return;
  }
}

/**
 * Resolves when a call is repeated that ended with the request to open a URL first; or when it is given up: after ten
 * minutes, when its client or server is closed, at the natural end of the process, or when too many wait.
 *
 * @param owner - client or server of the call
 */
export function untilRepeated(key: string, owner: object): Promise<WaitEnd> {
  return new Promise((resolve) => {
    const timer = setTimeout(() => call.end('given-up'), maxWaitMs);
    timer.unref();
    const call: WaitingCall = {
      digest: digestOf(key),
      owner,
      end(how) {
        clearTimeout(timer);
        waiting().delete(call);
        resolve(how);
      },
    };
    waiting().add(call);
    const [oldest] = waiting();
    if (waiting().size > maxWaiting) oldest?.end('given-up');
  });
}

/** Gives up the waiting calls of a client or server; of all without one. */
export function giveUpCalls(owner?: object): void {
  for (const call of waiting()) if (owner === undefined || call.owner === owner) call.end('given-up');
}
