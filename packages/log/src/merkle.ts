import { hash as digestOf } from 'node:crypto';
import { LogError } from './log-error.ts';

/** Number of bytes of a hash. */
export const hashBytes = 32;

/**
 * Reads the hash of the complete subtree over the entries from `index * 2^level` up to `(index + 1) * 2^level`. Level 0
 * are the hashes of the entries.
 */
export type HashReader = (level: number, index: number) => Uint8Array;

/** Place of a complete subtree: see {@link HashReader}. */
export interface HashPlace {
  readonly level: number;
  readonly index: number;
}

/** Entries from `start` up to but without `end`. */
export interface EntryRange {
  readonly start: number;
  readonly end: number;
}

/** Root of a tree without entries: the hash of nothing (RFC 6962, section 2.1). */
export const emptyRoot: Uint8Array = sha256('');

/** Input of the hash of a node: the prefix 1 and two hashes. */
const node = Buffer.alloc(1 + 2 * hashBytes, 1);

/** Returns the SHA-256 of bytes. As a string, Node passes the result on three times faster than in a buffer. */
export function sha256(data: Uint8Array | string): Uint8Array {
  return Buffer.from(digestOf('sha256', data, 'binary'), 'latin1');
}

/** Returns the hash of an entry as a leaf of the tree (RFC 6962, section 2.1). */
export function leafHash(entry: Uint8Array): Uint8Array {
  const input = Buffer.alloc(1 + entry.length);
  input.set(entry, 1);
  return sha256(input);
}

/** Returns the hashes of entries as leaves, one after the other. */
export function leafHashes(entries: readonly Uint8Array[]): Uint8Array {
  const hashes = Buffer.allocUnsafe(entries.length * hashBytes);
  let input = Buffer.alloc(0);
  for (const [index, entry] of entries.entries()) {
    // Entries of one length share the input, as all that stand for records do.
    if (input.length !== 1 + entry.length) input = Buffer.alloc(1 + entry.length);
    input.set(entry, 1);
    hashes.write(digestOf('sha256', input, 'binary'), index * hashBytes, 'latin1');
  }
  return hashes;
}

/** Returns the hash of a node with two children (RFC 6962, section 2.1). */
export function nodeHash(left: Uint8Array, right: Uint8Array): Uint8Array {
  node.set(left, 1);
  node.set(right, 1 + hashBytes);
  return sha256(node);
}

/**
 * Returns the hash of a complete subtree from the hashes of its leaves, one after the other.
 *
 * @param hashes - as many hashes as a power of two
 */
export function completeRoot(hashes: Uint8Array): Uint8Array {
  const level = Buffer.from(hashes);
  for (let length = level.length; length > hashBytes; length /= 2) {
    for (let at = 0; at < length; at += 2 * hashBytes) {
      level.copy(node, 1, at, at + 2 * hashBytes);
      level.write(digestOf('sha256', node, 'binary'), at / 2, 'latin1');
    }
  }
  return level.subarray(0, hashBytes);
}

/** Returns the places of the complete subtrees that cover a range of entries, from left to right. */
export function subtreesOf({ start, end }: EntryRange): HashPlace[] {
  const places: HashPlace[] = [];
  let at = start;
  while (at < end) {
    let level = 0;
    let width = 1;
    // The largest subtree that begins here and does not exceed the range.
    while (at % (width * 2) === 0 && at + width * 2 <= end) {
      width *= 2;
      level += 1;
    }
    places.push({ level, index: at / width });
    at += width;
  }
  return places;
}

/** Returns the Merkle tree hash of a range that begins where a subtree does; of the whole tree for `start` 0. */
export function rangeHash(range: EntryRange, read: HashReader): Uint8Array {
  const hashes = subtreesOf(range).map(({ level, index }) => read(level, index));
  const last = hashes.pop();
  if (!last) return emptyRoot;
  return hashes.reduceRight((right, left) => nodeHash(left, right), last);
}

/**
 * Returns the ranges whose hashes are the inclusion proof of an entry, from the leaf's sibling to the root's child
 * (RFC 6962, section 2.1.1).
 *
 * @throws RangeError when the tree has no such entry
 */
export function inclusionRanges(index: number, size: number): EntryRange[] {
  if (!Number.isSafeInteger(index) || index < 0 || index >= size) {
    throw new RangeError(
      `\`index\` must be from 0 to ${size - 1} in a tree of ${size} entries, got ${index}.`,
    );
  }
  const ranges: EntryRange[] = [];
  let start = 0;
  let end = size;
  while (end - start > 1) {
    const middle = start + largestPowerBelow(end - start);
    if (index < middle) {
      ranges.unshift({ start: middle, end });
      end = middle;
    } else {
      ranges.unshift({ start, end: middle });
      start = middle;
    }
  }
  return ranges;
}

/**
 * Returns the ranges whose hashes are the consistency proof from an earlier size to a later one (RFC 6962, section
 * 2.1.2). It is empty from size 0, and between equal sizes.
 *
 * @throws RangeError when the earlier size is larger
 */
export function consistencyRanges(oldSize: number, size: number): EntryRange[] {
  if (!Number.isSafeInteger(oldSize) || oldSize < 0 || oldSize > size) {
    throw new RangeError(`\`oldSize\` must be from 0 to ${size}, got ${oldSize}.`);
  }
  if (oldSize === 0 || oldSize === size) return [];
  const ranges: EntryRange[] = [];
  let start = 0;
  let end = size;
  while (oldSize !== end) {
    const middle = start + largestPowerBelow(end - start);
    if (oldSize <= middle) {
      ranges.unshift({ start: middle, end });
      end = middle;
    } else {
      ranges.unshift({ start, end: middle });
      start = middle;
    }
  }
  // The verifier knows the old root, unless the last subtree is only a part of the old tree.
  if (start > 0) ranges.unshift({ start, end });
  return ranges;
}

/** A statement that a tree has an entry, with its proof. */
export interface InclusionClaim {
  readonly index: number;
  readonly size: number;
  readonly root: Uint8Array;
  /** Hash of the entry: see {@link leafHash}. */
  readonly leaf: Uint8Array;
  readonly proof: readonly Uint8Array[];
}

/**
 * Verifies an inclusion proof (RFC 9162, section 2.1.3.2, which has the algorithm for the proofs of RFC 6962).
 *
 * @throws LogError `unproven` when the proof does not show that the tree has the entry at the index
 */
export function verifyInclusion({ index, size, root, leaf, proof }: InclusionClaim): void {
  const failed = `The inclusion proof of entry ${index} in a tree of ${size} entries`;
  if (!Number.isSafeInteger(index) || !Number.isSafeInteger(size) || index < 0 || index >= size) {
    throw new LogError('unproven', `${failed} is about an entry that the tree does not have.`);
  }
  const ranges = inclusionRanges(index, size);
  requireProof(failed, proof, ranges.length, [leaf, root]);
  let hash = leaf;
  for (const [step, { start }] of ranges.entries()) {
    const sibling = proof[step] as Uint8Array;
    hash = start > index ? nodeHash(hash, sibling) : nodeHash(sibling, hash);
  }
  if (!equalBytes(hash, root)) {
    throw new LogError('unproven', `${failed} leads to another root than that of the checkpoint.`);
  }
}

/** A statement that a tree begins with all entries of an earlier one, with its proof. */
export interface ConsistencyClaim {
  readonly oldSize: number;
  readonly oldRoot: Uint8Array;
  readonly size: number;
  readonly root: Uint8Array;
  readonly proof: readonly Uint8Array[];
}

/**
 * Verifies a consistency proof (RFC 6962, section 2.1.2).
 *
 * @throws LogError `unproven` when the proof does not show that the later tree begins with the earlier one
 */
export function verifyConsistency({ oldSize, oldRoot, size, root, proof }: ConsistencyClaim): void {
  const failed = `The consistency proof from ${oldSize} to ${size} entries`;
  if (!Number.isSafeInteger(oldSize) || !Number.isSafeInteger(size) || oldSize < 0 || oldSize > size) {
    throw new LogError('unproven', `${failed} does not lead from a smaller tree to a larger one.`);
  }
  const ranges = consistencyRanges(oldSize, size);
  requireProof(failed, proof, ranges.length, [oldRoot, root]);
  if (oldSize === 0) {
    if (equalBytes(oldRoot, emptyRoot)) return;
    throw new LogError('unproven', `${failed} begins at a root that a tree without entries cannot have.`);
  }
  if (oldSize === size) {
    if (equalBytes(oldRoot, root)) return;
    throw new LogError('unproven', `Two trees of ${size} entries have different roots.`);
  }
  const hashes = [...proof];
  // A first range that begins the tree means that the old tree is complete: the verifier has its hash.
  const isComplete = ranges[0]?.start === oldSize;
  const first = isComplete ? oldRoot : (hashes.shift() as Uint8Array);
  const rest = isComplete ? ranges : ranges.slice(1);
  let oldHash = first;
  let hash = first;
  for (const [step, { start }] of rest.entries()) {
    const sibling = hashes[step] as Uint8Array;
    if (start >= oldSize) {
      hash = nodeHash(hash, sibling);
    } else {
      oldHash = nodeHash(sibling, oldHash);
      hash = nodeHash(sibling, hash);
    }
  }
  if (!equalBytes(oldHash, oldRoot)) {
    throw new LogError('unproven', `${failed} does not begin at the root of the earlier tree.`);
  }
  if (!equalBytes(hash, root)) {
    throw new LogError('unproven', `${failed} leads to another root than that of the later tree.`);
  }
}

/** @throws LogError `unproven` unless there are as many hashes as expected, and all are as long as hashes */
function requireProof(
  failed: string,
  proof: readonly Uint8Array[],
  expected: number,
  others: readonly Uint8Array[],
): void {
  if (proof.length !== expected) {
    throw new LogError('unproven', `${failed} must have ${expected} hashes, got ${proof.length}.`);
  }
  const odd = [...proof, ...others].find(({ length }) => length !== hashBytes);
  if (odd) throw new LogError('unproven', `${failed} must have hashes of 32 bytes, got ${odd.length} bytes.`);
}

/** `true` if two byte strings are equal. */
export function equalBytes(left: Uint8Array, right: Uint8Array): boolean {
  return Buffer.compare(left, right) === 0;
}

/** Returns the largest power of two that is less than a number of at least 2. */
function largestPowerBelow(count: number): number {
  let power = 1;
  while (power * 2 < count) power *= 2;
  return power;
}
