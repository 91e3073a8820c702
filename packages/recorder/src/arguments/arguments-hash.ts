import {
  createHash,
  createHmac,
  createSecretKey,
  type Hash,
  type Hmac,
  hash,
  type KeyObject,
  timingSafeEqual,
} from 'node:crypto';
import { setImmediate as nextTurn } from 'node:timers/promises';
import { configure } from 'safe-stable-stringify';
import { timers } from '../timers.ts';
import { canonicalSlices } from './canonical-slices.ts';
import { isSmallPlainJson } from './plain-json.ts';

/** How long hashing holds the event loop before it lets other work run. */
const sliceMs = 4;

/**
 * Writes small plain JSON, for which it agrees with RFC 8785 to the byte (a test holds it to the canonicalisation
 * library), in less than half the time of that.
 */
const stringifyPlain = configure({ bigint: false, circularValue: Error, deterministic: true });

/** Settings of an arguments hash. */
export interface ArgumentsHashOptions {
  /**
   * Makes the hash an HMAC, so that nobody without the key can find small arguments by trying. Text or bytes, at
   * least 16 of them; use the same key wherever hashes are compared.
   */
  readonly hashKey?: string | Uint8Array | undefined;
}

/** Hashes arguments with one key, or with none. */
export class ArgumentsHasher {
  readonly #key: KeyObject | undefined;
  readonly #prefix: string;

  constructor({ hashKey }: ArgumentsHashOptions = {}) {
    this.#key = hashKey === undefined ? undefined : secretKey(hashKey);
    this.#prefix = this.#key ? 'hmac-sha256:' : 'sha256:';
  }

  /** The hash at once when that takes little time, else a promise of it that lets other work run meanwhile. */
  hash(args: unknown): string | Promise<string> {
    const small = this.#hashSmall(args);
    if (small !== undefined) return small;
    const digest = this.#createDigest();
    const slices = canonicalSlices(args);
    return feed(digest, slices) ? this.#finish(digest) : this.#hashInTurns(digest, slices);
  }

  /** The hash at once, however long it takes. */
  hashSync(args: unknown): string {
    const small = this.#hashSmall(args);
    if (small !== undefined) return small;
    const digest = this.#createDigest();
    for (const slice of canonicalSlices(args)) digest.update(slice, 'utf8');
    return this.#finish(digest);
  }

  #hashSmall(args: unknown): string | undefined {
    try {
      if (!isSmallPlainJson(args, 0)) return undefined;
      const text = stringifyPlain(args) ?? 'null';
      if (!this.#key) return `sha256:${hash('sha256', text)}`;
      return this.#finish(this.#createDigest().update(text, 'utf8'));
    } catch {
      return undefined; // a getter or a proxy that throws: the slices know how to go on
    }
  }

  async #hashInTurns(digest: Hash | Hmac, slices: Iterator<string, void>): Promise<string> {
    do await nextTurn();
    while (!feed(digest, slices));
    return this.#finish(digest);
  }

  #createDigest(): Hash | Hmac {
    return this.#key ? createHmac('sha256', this.#key) : createHash('sha256');
  }

  #finish(digest: Hash | Hmac): string {
    return this.#prefix + digest.digest('hex');
  }
}

/** What is no key must not make hashes without one, in which small arguments can be found. */
function secretKey(given: string | Uint8Array): KeyObject {
  if (typeof given !== 'string' && !ArrayBuffer.isView(given)) {
    throw new TypeError('hashKey must be text or bytes: use at least 16, such as 32 random bytes.');
  }
  const length = typeof given === 'string' ? given.length : given.byteLength;
  if (length < 16) {
    throw new RangeError(
      `hashKey has ${length} characters or bytes: use at least 16, such as 32 random bytes.`,
    );
  }
  return typeof given === 'string' ? createSecretKey(given, 'utf8') : createSecretKey(given);
}

/** Moves slices into the digest until they end (true) or the time for one turn is over (false). */
function feed(digest: Hash | Hmac, slices: Iterator<string, void>): boolean {
  const endsAt = timers.now() + sliceMs;
  let text = '';
  for (;;) {
    const next = slices.next();
    if (!next.done) text += next.value;
    // Most slices are a comma or a name, so many go into one update; an empty one is a place to pause.
    if (next.done || next.value === '' || text.length >= 4096) {
      digest.update(text, 'utf8');
      text = '';
      if (next.done) return true;
      if (timers.now() >= endsAt) return false;
    }
  }
}

/**
 * The value of an event's `argumentsHash`: `sha256:` and the SHA-256 of the arguments' canonical JSON (RFC 8785)
 * in hex, or `hmac-sha256:` and its HMAC when a `hashKey` is given. It takes any value, never rejects for one, and
 * lets other work run while it hashes large ones. The README tells how values are treated that JSON cannot hold.
 *
 * @throws RangeError when `hashKey` has fewer than 16 characters or bytes, TypeError when it is neither
 */
export async function hashArguments(args: unknown, options?: ArgumentsHashOptions): Promise<string> {
  return new ArgumentsHasher(options).hash(args);
}

/**
 * Whether an `argumentsHash` is that of these arguments; for those who keep the arguments themselves and want to
 * prove them against the record. Compares in constant time. A keyed hash without its key matches nothing.
 *
 * @throws RangeError when `hashKey` has fewer than 16 characters or bytes, TypeError when it is neither
 */
export async function matchesArguments(
  argumentsHash: string,
  args: unknown,
  options: ArgumentsHashOptions = {},
): Promise<boolean> {
  const keyed = argumentsHash.startsWith('hmac-sha256:');
  if (keyed && options.hashKey === undefined) return false;
  const expected = Buffer.from(await hashArguments(args, keyed ? options : {}));
  const given = Buffer.from(argumentsHash);
  return given.length === expected.length && timingSafeEqual(given, expected);
}
