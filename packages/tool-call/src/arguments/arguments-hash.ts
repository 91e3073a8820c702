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
import { performance } from 'node:perf_hooks';
import { setImmediate as nextTurn } from 'node:timers/promises';
import { configure } from 'safe-stable-stringify';
import { canonicalSlices } from './canonical-slices.ts';
import { isSmallPlainJson } from './json-form.ts';

/** Time that hashing may block the event loop before it yields, in milliseconds. */
const sliceMs = 4;

/**
 * Serializes small plain JSON exactly as RFC 8785 (a test compares it with the canonicalization library), in less than
 * half the time.
 */
const stringifyPlain = configure({ bigint: false, circularValue: Error, deterministic: true });

/** Options of an arguments hash. */
export interface ArgumentsHashOptions {
  /**
   * Makes the hash an HMAC, so that small arguments cannot be guessed without the key. A string or bytes, at least 16;
   * use the same key wherever hashes are compared.
   */
  readonly hashKey?: string | Uint8Array | undefined;
}

/** Hashes arguments with or without a key. */
export class ArgumentsHasher {
  readonly #key: KeyObject | undefined;
  readonly #prefix: string;

  constructor({ hashKey }: ArgumentsHashOptions = {}) {
    this.#key = hashKey === undefined ? undefined : secretKey(hashKey);
    this.#prefix = this.#key ? 'hmac-sha256:' : 'sha256:';
  }

  /** Returns the hash directly if that is fast, otherwise a promise of it that yields to other work meanwhile. */
  hash(args: unknown): string | Promise<string> {
    const small = this.#hashSmall(args);
    if (small !== undefined) return small;
    const digest = this.#createDigest();
    const slices = canonicalSlices(args);
    return feed(digest, slices) ? this.#finish(digest) : this.#hashInTurns(digest, slices);
  }

  /** Returns the hash synchronously, however long it takes. */
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
      return undefined; // a getter or a proxy threw: the slices handle it
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

/** Creates the key. An invalid key must not produce unkeyed hashes, from which small arguments can be guessed. */
function secretKey(given: string | Uint8Array): KeyObject {
  if (typeof given !== 'string' && !ArrayBuffer.isView(given)) {
    throw new TypeError('hashKey must be a string or bytes: use at least 16, such as 32 random bytes.');
  }
  const length = typeof given === 'string' ? given.length : given.byteLength;
  if (length < 16) {
    throw new RangeError(
      `hashKey has ${length} characters or bytes: use at least 16, such as 32 random bytes.`,
    );
  }
  return typeof given === 'string' ? createSecretKey(given, 'utf8') : createSecretKey(given);
}

/** Feeds slices to the digest until they end (`true`) or the time slice is used up (`false`). */
function feed(digest: Hash | Hmac, slices: Iterator<string, void>): boolean {
  const endsAt = performance.now() + sliceMs;
  let text = '';
  for (;;) {
    const next = slices.next();
    if (!next.done) text += next.value;
    // Most slices are a comma or a name, so batch many into one update. An empty one is a point to yield.
    if (next.done || next.value === '' || text.length >= 4096) {
      digest.update(text, 'utf8');
      text = '';
      if (next.done) return true;
      if (performance.now() >= endsAt) return false;
    }
  }
}

/**
 * Computes the `argumentsHash` of an event: `sha256:` and the SHA-256 of the arguments' canonical JSON (RFC 8785) in
 * hex, or `hmac-sha256:` and its HMAC if a `hashKey` is given. Accepts any value, never rejects because of it, and
 * yields to other work while it hashes large ones. The README describes values that JSON cannot represent.
 *
 * @throws RangeError when `hashKey` has fewer than 16 characters or bytes, TypeError when it is neither
 */
export async function hashArguments(args: unknown, options?: ArgumentsHashOptions): Promise<string> {
  return new ArgumentsHasher(options).hash(args);
}

/**
 * Returns `true` if these arguments have the given `argumentsHash`, for callers that keep the arguments and verify them
 * against the record. Compares in constant time. A keyed hash never matches without its key.
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
