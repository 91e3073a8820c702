import { createHash, randomUUID } from 'node:crypto';
import type { SealFields } from '../events/event.ts';

/** Events of one session between two seals, at most. A seal of that many ids has about 4 kB. */
const maxUnsealed = 100;

/** Sessions in memory, at most. Beyond, the session that had no event for the longest time gets its last seal. */
const maxSessions = 1000;

/** A session in which events are recorded, and the author of the latest one, in whose name the seal is sent. */
export interface SealedPlace<Source> {
  readonly sessionId: string;
  readonly agentId: string;
  readonly source: Source;
}

/** A seal to record. */
export interface Seal<Source> extends SealedPlace<Source> {
  readonly payload: SealFields['payload'];
}

interface OpenSession<Source> {
  readonly sealer: string;
  count: number;
  chain: Buffer;
  unsealed: string[];
  place: SealedPlace<Source>;
}

/**
 * Decides when the sessions of a recorder are sealed: after each {@link maxUnsealed} events, and when the recorder is
 * flushed or closed. `checkSeals` of `@actlog/log` compares the seals with the record.
 */
export class SessionSeals<Source> {
  readonly #record: (seal: Seal<Source>) => void;
  /** By id; the session with the latest event is last. */
  readonly #sessions = new Map<string, OpenSession<Source>>();

  /** @param record - records the event of a seal */
  constructor(record: (seal: Seal<Source>) => void) {
    this.#record = record;
  }

  /** Adds a recorded event to its session, and seals the session if enough events have none. */
  add(eventId: string, place: SealedPlace<Source>): void {
    const { sessionId } = place;
    const session = this.#sessions.get(sessionId) ?? newSession(place);
    session.chain = createHash('sha256').update(session.chain).update(eventId, 'utf8').digest();
    session.count += 1;
    session.unsealed.push(eventId);
    session.place = place;
    this.#sessions.delete(sessionId);
    this.#sessions.set(sessionId, session);
    if (session.unsealed.length >= maxUnsealed) this.#seal(session, false);
    if (this.#sessions.size > maxSessions) this.#forgetOldest();
  }

  /**
   * Seals the sessions with events since their last seal.
   *
   * @param isLast - `true` at the end of the recorder: every session gets its last seal, and is forgotten
   */
  sealAll(isLast: boolean): void {
    const sessions = [...this.#sessions.values()];
    if (isLast) this.#sessions.clear();
    for (const session of sessions) if (isLast || session.unsealed.length > 0) this.#seal(session, isLast);
  }

  #forgetOldest(): void {
    for (const [id, session] of this.#sessions) {
      this.#sessions.delete(id);
      this.#seal(session, true);
      return;
    }
  }

  #seal(session: OpenSession<Source>, isLast: boolean): void {
    const { sealer, count, chain, unsealed, place } = session;
    session.unsealed = [];
    this.#record({
      ...place,
      payload: { sealer, count, eventIds: unsealed, chain: chain.toString('hex'), isLast },
    });
  }
}

function newSession<Source>(place: SealedPlace<Source>): OpenSession<Source> {
  return { sealer: randomUUID(), count: 0, chain: Buffer.alloc(32), unsealed: [], place };
}
