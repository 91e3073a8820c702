import { BottomK } from './bottom-k.ts';
import { count, emptyTally, isBefore, type Tally } from './mark.ts';

/** Kind of an entry in a session: a call, a message, a memory write, or a decision about a call. */
export type EntryKind =
  | 'call'
  | 'message'
  | 'memory'
  | 'policy_denied'
  | 'held'
  | 'approved'
  | 'refused'
  | 'lapsed';

/** Record of one action, which is a tool with certain arguments: its calls and the decisions about it. */
export interface ActionRecord {
  readonly tool: number;
  readonly bits: number;
  /** Calls that were not refused for missing permissions. */
  readonly done: Tally;
  /** Number of calls that were refused for missing permissions. */
  rejected: number;
  /** Denials by a policy or a person, without exceeded rates. */
  readonly denied: Tally;
  /** Denials by a person. */
  readonly refused: Tally;
  readonly approved: Tally;
  /** `true` if it was ever denied, held, or not decided in time. */
  stopped: boolean;
}

const classes = 2 ** 32;

/**
 * The heaviest actions of a session, each with what was decided about it. Which ones are kept depends only on the set of
 * events: those that reach furthest first, then those with the smallest hashes.
 */
export class Actions {
  readonly #kept: BottomK<ActionRecord>;

  /** @param capacity - maximum number of actions */
  constructor(capacity: number) {
    this.#kept = new BottomK(capacity);
  }

  /**
   * Returns the record of an action, creating it; undefined if it is not kept.
   *
   * @param rank - 0 for the heaviest kind of action
   * @param hash - hash of the tool and its arguments
   */
  reach(rank: number, hash: number, tool: number, bits: number): ActionRecord | undefined {
    return this.#kept.reach(rank * classes + hash, () => ({
      tool,
      bits,
      done: emptyTally(),
      rejected: 0,
      denied: emptyTally(),
      refused: emptyTally(),
      approved: emptyTally(),
      stopped: false,
    }));
  }

  /** Returns the kept actions with their keys, in a fixed order. */
  entries(): readonly (readonly [number, ActionRecord])[] {
    return this.#kept.entries();
  }

  /** Puts back a stored record. */
  restore(key: number, record: ActionRecord): void {
    this.#kept.reach(key, () => record);
  }
}

/** Records one call of an action, or one decision about it. */
export function recordAction(
  record: ActionRecord,
  kind: EntryKind,
  isNotNow: boolean,
  isRejected: boolean,
  at: number,
  id: string,
): void {
  switch (kind) {
    case 'call':
    case 'message':
    case 'memory':
      if (isRejected) record.rejected += 1;
      else count(record.done, at, id, record.tool);
      return;
    case 'approved':
      count(record.approved, at, id, record.tool);
      return;
    case 'policy_denied':
    case 'refused':
      if (!isNotNow) count(record.denied, at, id, record.tool);
      if (kind === 'refused') count(record.refused, at, id, record.tool);
      record.stopped = true;
      return;
    default:
      record.stopped = true;
  }
}

/** `true` if an action was denied and then executed without an approval in between. */
export function isDeniedThenDone({ denied, done, approved }: ActionRecord): boolean {
  if (denied.count === 0 || done.count === 0) return false;
  const isAfter = (one: Tally) => isBefore(denied.firstMs, denied.firstId, one.firstMs, one.firstId);
  if (approved.count === 0) return isBefore(denied.firstMs, denied.firstId, done.lastMs, done.lastId);
  // Before the first approval, or after a denial that came after the last one.
  if (isAfter(done) && isBefore(done.firstMs, done.firstId, approved.firstMs, approved.firstId)) return true;
  return (
    isBefore(approved.lastMs, approved.lastId, denied.lastMs, denied.lastId) &&
    isBefore(denied.lastMs, denied.lastId, done.lastMs, done.lastId)
  );
}
