import { createHash } from 'node:crypto';
import { malformed } from './log-error.ts';

/**
 * A statement of a process about a session: how many events it has sent, and a chain of hashes over their ids. An event
 * that left the process and is not in the record shows.
 */
export interface SessionSeal {
  /** Id of the process, which is different in each run of a program. */
  readonly process: string;
  /** Number of events so far. */
  readonly count: number;
  /** The chain after the last event, in hex: SHA-256 over the chain before it and the event's id, from 32 zero bytes. */
  readonly chain: string;
}

/** An event of a sealed session in the record. */
export interface SealedEvent {
  readonly eventId: string;
  readonly process: string;
  /** Number of the event among those of its process in the session, from 1. */
  readonly sequence: number;
}

/** A contradiction between seals and the record. */
export interface SealFinding {
  readonly process: string;
  readonly code: 'event-missing' | 'event-changed' | 'event-repeated' | 'seal-missing' | 'seals-differ';
  /** Number of the event that it is about. */
  readonly sequence: number;
  /** The problem, as a sentence. */
  readonly message: string;
}

const start = Buffer.alloc(32);

/** Chain over the events that a process sends in one session. */
export class SessionChain {
  #count = 0;
  #chain: Uint8Array = start;

  /** Adds an event. Returns its number in the session, from 1. */
  add(eventId: string): number {
    this.#chain = createHash('sha256').update(this.#chain).update(eventId, 'utf8').digest();
    this.#count += 1;
    return this.#count;
  }

  /** Returns the seal over the events so far. */
  seal(process: string): SessionSeal {
    return { process, count: this.#count, chain: Buffer.from(this.#chain).toString('hex') };
  }
}

/**
 * Parses a seal from the payload of an event.
 *
 * @throws LogError `malformed` when a field is missing or of another type
 */
export function parseSeal(value: unknown): SessionSeal {
  const { process, count, chain } = (value ?? {}) as Record<string, unknown>;
  if (typeof process !== 'string' || process === '') {
    throw malformed('`process` of a seal', 'must be a string that is not empty.');
  }
  if (!Number.isSafeInteger(count) || (count as number) < 0) {
    throw malformed('`count` of a seal', `must be a whole number from 0, got ${String(count)}.`);
  }
  if (typeof chain !== 'string' || !/^[0-9a-f]{64}$/.test(chain)) {
    throw malformed('`chain` of a seal', 'must be 64 lowercase hex digits.');
  }
  return { process, count: count as number, chain };
}

/**
 * Checks the events of a session in the record against its seals, in any order. A process seals when it ends, and may
 * seal before. Events after its last seal are not covered, which is a finding for each process: it may still run, or it
 * ended without a seal.
 */
export function checkSeals(events: readonly SealedEvent[], seals: readonly SessionSeal[]): SealFinding[] {
  const eventsOf = Map.groupBy(events, ({ process }) => process);
  const sealsOf = Map.groupBy(seals, ({ process }) => process);
  const processes = new Set([...eventsOf.keys(), ...sealsOf.keys()]);
  return [...processes].flatMap((process) =>
    checkProcess(process, eventsOf.get(process) ?? [], sealsOf.get(process) ?? []),
  );
}

function checkProcess(
  process: string,
  events: readonly SealedEvent[],
  seals: readonly SessionSeal[],
): SealFinding[] {
  const findings: SealFinding[] = [];
  const find = (code: SealFinding['code'], sequence: number, problem: string) => {
    findings.push({ process, code, sequence, message: `Process ${process}: ${problem}` });
  };
  const ids = new Map<number, string>();
  for (const { sequence, eventId } of events) {
    const other = ids.get(sequence) ?? eventId;
    if (other !== eventId) {
      find('event-repeated', sequence, `events ${other} and ${eventId} both are number ${sequence}.`);
    }
    ids.set(sequence, other);
  }

  const numbers = [...ids.keys()].sort((left, right) => left - right);
  const chain = new SessionChain();
  let expected = 1;
  let isWhole = true;
  const missUntil = (end: number) => {
    if (expected >= end) return;
    const missing = end - expected === 1 ? `event ${expected} is` : `events ${expected} to ${end - 1} are`;
    find('event-missing', expected, `${missing} not in the record.`);
    expected = end;
    isWhole = false;
  };
  const takeUntil = (count: number) => {
    while (numbers[0] !== undefined && numbers[0] <= count) {
      const number = numbers.shift() as number;
      missUntil(number);
      chain.add(ids.get(number) as string);
      expected = number + 1;
    }
  };

  const byCount = Map.groupBy(seals, ({ count }) => count);
  let sealed = 0;
  for (const [count, [first, ...others]] of [...byCount].sort(([left], [right]) => left - right)) {
    takeUntil(count);
    missUntil(count + 1);
    if (others.some((seal) => seal.chain !== first?.chain)) {
      find('seals-differ', count, `two seals over ${count} events have different chains.`);
    } else if (isWhole && chain.seal(process).chain !== first?.chain) {
      const range =
        count === sealed + 1 ? `event ${count} has` : `one of the events ${sealed + 1} to ${count} has`;
      find('event-changed', sealed + 1, `${range} another id than when it was sealed.`);
      isWhole = false;
    }
    sealed = count;
  }
  takeUntil(Number.MAX_SAFE_INTEGER);
  if (expected > sealed + 1) {
    const unsealed = `events ${sealed + 1} to ${expected - 1} have no seal`;
    find('seal-missing', sealed + 1, `${unsealed}: the process still runs, or it ended without one.`);
  }
  return findings;
}
