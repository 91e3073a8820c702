import { createHash } from 'node:crypto';
import { malformed } from './log-error.ts';

/**
 * A statement of a recorder about the events that it has recorded in a session, as the payload of an event of category
 * `session_seal`. It lists the events since the recorder's previous seal, so that an event that is missing from the
 * record is named.
 */
export interface SessionSeal {
  /** Id of the recorder in this session. Each process has its own. */
  readonly sealer: string;
  /** Number of events that the sealer has recorded in the session so far. */
  readonly count: number;
  /** Ids of the events since the previous seal, in order. */
  readonly eventIds: readonly string[];
  /**
   * Chain after the last event, as 64 hex digits: SHA-256 over the chain before it and the event's id, starting from 32
   * zero bytes. It ties a seal to those before it.
   */
  readonly chain: string;
  /** `true` on the seal of a recorder that was closed: it records nothing more in the session. */
  readonly isLast?: boolean | undefined;
}

/** A contradiction between seals and the record. */
export interface SealFinding {
  readonly sealer: string;
  readonly code: 'event-missing' | 'seal-missing' | 'seal-changed' | 'not-closed';
  /** Number of the first event that it is about, from 1. */
  readonly sequence: number;
  /** Id of the missing event. */
  readonly eventId?: string;
  /** The problem, as a sentence. */
  readonly message: string;
}

/** Result of {@link checkSeals}. */
export interface SealReport {
  /** Number of events of the session that seals name and the record has. */
  readonly sealed: number;
  /** Ids of events in the record that no seal names: from a recorder without seals, or after its last one. */
  readonly unsealed: readonly string[];
  readonly findings: readonly SealFinding[];
}

/**
 * Parses a seal from the payload of an event.
 *
 * @throws LogError `malformed` when a field is missing or of another type
 */
export function parseSeal(value: unknown): SessionSeal {
  const { sealer, count, eventIds, chain, isLast } = (value ?? {}) as Record<string, unknown>;
  if (typeof sealer !== 'string' || sealer === '') {
    throw malformed('`sealer` of a seal', 'must be a string that is not empty.');
  }
  if (!Array.isArray(eventIds) || !eventIds.every((id) => typeof id === 'string' && id !== '')) {
    throw malformed('`eventIds` of a seal', 'must be an array of event ids.');
  }
  if (!Number.isSafeInteger(count) || (count as number) < eventIds.length) {
    throw malformed(
      '`count` of a seal',
      `must be a whole number from ${eventIds.length}, the number of its \`eventIds\`, got ${String(count)}.`,
    );
  }
  if (typeof chain !== 'string' || !/^[0-9a-f]{64}$/.test(chain)) {
    throw malformed('`chain` of a seal', 'must be 64 lowercase hex digits.');
  }
  if (isLast !== undefined && typeof isLast !== 'boolean') {
    throw malformed('`isLast` of a seal', 'must be true, false or omitted.');
  }
  return { sealer, count: count as number, eventIds, chain, isLast };
}

/**
 * Checks the events of a session in the record against its seals.
 *
 * @param eventIds - ids of all events of the session in the record, without the seals themselves
 * @param seals - seals of the session, in any order
 */
export function checkSeals(eventIds: Iterable<string>, seals: readonly SessionSeal[]): SealReport {
  const recorded = new Set(eventIds);
  const named = new Set<string>();
  const findings = [...Map.groupBy(seals, ({ sealer }) => sealer).values()].flatMap((ofSealer) => {
    for (const seal of ofSealer) for (const id of seal.eventIds) named.add(id);
    return checkSealer(recorded, ofSealer);
  });
  return {
    sealed: [...named].filter((id) => recorded.has(id)).length,
    unsealed: [...recorded].filter((id) => !named.has(id)),
    findings,
  };
}

function checkSealer(recorded: ReadonlySet<string>, seals: readonly SessionSeal[]): SealFinding[] {
  const findings: SealFinding[] = [];
  const [{ sealer }] = seals as [SessionSeal];
  const find = (code: SealFinding['code'], sequence: number, problem: string, eventId?: string) => {
    const message = `Recorder ${sealer}: ${problem}`;
    findings.push({ sealer, code, sequence, message, ...(eventId !== undefined && { eventId }) });
  };
  let chain: Uint8Array | undefined = Buffer.alloc(32);
  let count = 0;
  for (const seal of inOrder(seals)) {
    const first = seal.count - seal.eventIds.length + 1;
    if (first > count + 1) {
      find(
        'seal-missing',
        count + 1,
        `the seal of events ${count + 1} to ${first - 1} is not in the record.`,
      );
      chain = undefined;
    } else if (first <= count) {
      find('seal-changed', first, `two seals are about event ${first}.`);
      chain = undefined;
    }
    for (const [index, id] of seal.eventIds.entries()) {
      if (recorded.has(id)) continue;
      find('event-missing', first + index, `event ${first + index}, ${id}, is not in the record.`, id);
    }
    const end: Buffer | undefined = chain && chainOver(chain, seal.eventIds);
    if (end && end.toString('hex') !== seal.chain) {
      find(
        'seal-changed',
        first,
        `the seal of events ${first} to ${seal.count} is not the one that was sent.`,
      );
    }
    chain = Buffer.from(seal.chain, 'hex');
    count = seal.count;
  }
  if (!seals.some(({ isLast }) => isLast)) {
    find(
      'not-closed',
      count + 1,
      `events after number ${count} are not sealed: it still runs, or it was killed.`,
    );
  }
  return findings;
}

/** Returns the seals by their events. A repeated seal counts once. */
function inOrder(seals: readonly SessionSeal[]): SessionSeal[] {
  const distinct = new Map(
    seals.map((seal) => [JSON.stringify([seal.count, seal.eventIds, seal.chain]), seal]),
  );
  return [...distinct.values()].sort((left, right) => left.count - right.count);
}

function chainOver(before: Uint8Array, eventIds: readonly string[]): Buffer {
  let chain = Buffer.from(before);
  for (const id of eventIds) chain = createHash('sha256').update(chain).update(id, 'utf8').digest();
  return chain;
}
