import {
  createCipheriv,
  createDecipheriv,
  createSecretKey,
  hkdfSync,
  type KeyObject,
  randomFillSync,
} from 'node:crypto';
import {
  type AnnouncedCall,
  parseAnnouncedCall,
  parseRecordedOutcome,
  type RecordedOutcome,
} from '../events/tool-call.ts';
import { dropOldest } from '../lib/linked-list.ts';
import { processWide } from '../lib/process-wide.ts';

/** Maximum age of an announcement, in milliseconds; clocks may differ by as much. */
const maxAgeMs = 5 * 60_000;
/** Maximum number of announcements remembered. */
const maxOpened = 10_000;
/** Maximum length of a sealed announcement, in characters. */
const maxLength = 64 * 1024;

const algorithm = 'aes-256-gcm';
const ivLength = 12;
const tagLength = 16;

/** Random bytes for initialization vectors: Node.js takes about as long for twelve of them as for thousands. */
const randomPool = new Uint8Array(ivLength * 256);
let usedOfPool = randomPool.length;

/** Announcements that were opened, and when the calls were announced. */
export interface OpenedAnnouncements {
  readonly atMsById: Map<string, number>;
  /** Announcements up to this time are refused, because it is no longer known whether they were opened. */
  refusedUntilMs: number;
}

const opened = processWide(
  '@actlog/recorder/opened-announcements',
  (): OpenedAnnouncements => ({ atMsById: new Map(), refusedUntilMs: Date.now() - process.uptime() * 1000 }),
);

/**
 * Seals announcements of calls for the other side of a connection, and opens the announcements it receives.
 *
 * Only a side that has the same secret can read or create one (AES-256-GCM, with a key derived by HKDF, RFC 5869), so
 * that nobody else learns the session or takes over an approval. Each is opened once, within five minutes: a repeated
 * request does not count as the same call.
 */
export class CallAnnouncements {
  readonly #secret: string | Uint8Array;
  readonly #opened: () => OpenedAnnouncements;
  #derivedKey: KeyObject | undefined;

  /**
   * @param secret - what both sides have and nobody else: the key of argument hashes, or the API key
   * @param openedBefore - announcements that were opened; default: by this process
   */
  constructor(secret: string | Uint8Array, openedBefore: () => OpenedAnnouncements = opened) {
    this.#secret = secret;
    this.#opened = openedBefore;
  }

  /** Returns the sealed announcement of a call. */
  seal(call: AnnouncedCall): string {
    return this.#encrypt(JSON.stringify(call));
  }

  /** Returns the call of a sealed announcement; undefined if it has another secret, is too old or was opened before. */
  open(sealed: unknown): AnnouncedCall | undefined {
    const call = this.#decrypt(sealed, parseAnnouncedCall);
    if (!call) return undefined;
    const ageMs = Date.now() - call.atMs;
    if (Math.abs(ageMs) > maxAgeMs) return undefined;
    const { atMsById, refusedUntilMs } = this.#opened();
    if (call.atMs <= refusedUntilMs || atMsById.has(call.eventId)) return undefined;
    atMsById.set(call.eventId, call.atMs);
    if (atMsById.size > maxOpened) forgetOldest(this.#opened());
    return call;
  }

  /** Allows an announcement to be opened once more, because the call continues in another request. */
  reopen({ eventId }: AnnouncedCall): void {
    this.#opened().atMsById.delete(eventId);
  }

  /** Returns sealed what was recorded of an announced call, for the side that announced it. */
  sealOutcome({ eventId }: AnnouncedCall, outcome: RecordedOutcome): string {
    return this.#encrypt(JSON.stringify({ ...outcome, eventId }));
  }

  /** Opens a sealed outcome; undefined if it has another secret or belongs to another event. */
  openOutcome(sealed: unknown, eventId: string): RecordedOutcome | undefined {
    return this.#decrypt(sealed, (json) => parseRecordedOutcome(json, eventId));
  }

  #encrypt(json: string): string {
    const iv = nextIv();
    const cipher = createCipheriv(algorithm, this.#key(), iv);
    const sealed = Buffer.concat([cipher.update(json, 'utf8'), cipher.final()]);
    return Buffer.concat([iv, cipher.getAuthTag(), sealed]).toString('base64url');
  }

  #decrypt<Value>(sealed: unknown, parse: (json: string) => Value | undefined): Value | undefined {
    if (typeof sealed !== 'string' || sealed.length > maxLength) return undefined;
    try {
      const bytes = Buffer.from(sealed, 'base64url');
      const tag = bytes.subarray(ivLength, ivLength + tagLength);
      const decipher = createDecipheriv(algorithm, this.#key(), bytes.subarray(0, ivLength), {
        authTagLength: tagLength,
      });
      decipher.setAuthTag(tag);
      const text = decipher.update(bytes.subarray(ivLength + tagLength), undefined, 'utf8');
      return parse(text + decipher.final('utf8'));
    } catch {
      return undefined; // another secret, or nothing that was sealed
    }
  }

  /** Returns the key as a `KeyObject`, because Node.js takes 13 µs more to create a cipher from bytes. */
  #key(): KeyObject {
    this.#derivedKey ??= createSecretKey(
      new Uint8Array(hkdfSync('sha256', this.#secret, '', 'actlog announced call', 32)),
    );
    return this.#derivedKey;
  }
}

/** Returns an initialization vector that was never used before. */
function nextIv(): Uint8Array {
  if (usedOfPool === randomPool.length) {
    randomFillSync(randomPool);
    usedOfPool = 0;
  }
  const iv = randomPool.subarray(usedOfPool, usedOfPool + ivLength);
  usedOfPool += ivLength;
  return iv;
}

function forgetOldest(state: OpenedAnnouncements): void {
  dropOldest(state.atMsById, maxOpened / 2, (atMs) => {
    state.refusedUntilMs = Math.max(state.refusedUntilMs, atMs);
  });
}
