import { createHash } from 'node:crypto';

/**
 * A Merkle tree as section 2.1 of RFC 6962 defines it, word by word and without any thought of speed. It shares nothing
 * with the package.
 */
function sha256(...parts: readonly Uint8Array[]): Buffer {
  return createHash('sha256').update(Buffer.concat(parts)).digest();
}

/** MTH(D[n]) of section 2.1. */
export function naiveRoot(entries: readonly Uint8Array[]): Buffer {
  if (entries.length === 0) return sha256();
  if (entries.length === 1) return sha256(Buffer.from([0]), entries[0] as Uint8Array);
  const k = split(entries.length);
  return sha256(Buffer.from([1]), naiveRoot(entries.slice(0, k)), naiveRoot(entries.slice(k)));
}

/** PATH(m, D[n]) of section 2.1.1. */
export function naivePath(m: number, entries: readonly Uint8Array[]): Buffer[] {
  if (entries.length === 1) return [];
  const k = split(entries.length);
  return m < k
    ? [...naivePath(m, entries.slice(0, k)), naiveRoot(entries.slice(k))]
    : [...naivePath(m - k, entries.slice(k)), naiveRoot(entries.slice(0, k))];
}

/** PROOF(m, D[n]) of section 2.1.2. */
export function naiveConsistency(m: number, entries: readonly Uint8Array[]): Buffer[] {
  return subproof(m, entries, true);
}

function subproof(m: number, entries: readonly Uint8Array[], isWhole: boolean): Buffer[] {
  const n = entries.length;
  if (m === n) return isWhole ? [] : [naiveRoot(entries)];
  const k = split(n);
  return m <= k
    ? [...subproof(m, entries.slice(0, k), isWhole), naiveRoot(entries.slice(k))]
    : [...subproof(m - k, entries.slice(k), false), naiveRoot(entries.slice(0, k))];
}

/** The largest power of two less than n. */
function split(n: number): number {
  return 2 ** (Math.ceil(Math.log2(n)) - 1);
}
