import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { testEntries } from '../tests/memory-tiles.ts';
import { naiveConsistency, naivePath, naiveRoot } from '../tests/naive-tree.ts';
import { LogError } from './log-error.ts';
import {
  consistencyRanges,
  emptyRoot,
  type HashReader,
  inclusionRanges,
  leafHash,
  rangeHash,
  verifyConsistency,
  verifyInclusion,
} from './merkle.ts';

/** Reads complete subtrees from the naive tree. */
function readerOf(entries: readonly Uint8Array[]): HashReader {
  return (level, index) => naiveRoot(entries.slice(index * 2 ** level, (index + 1) * 2 ** level));
}

/** Changes one bit. */
function withFlippedBit(bytes: Uint8Array, bit: number): Uint8Array {
  const copy = Uint8Array.from(bytes);
  const at = Math.floor(bit / 8) % copy.length;
  copy[at] = (copy[at] as number) ^ (1 << (bit % 8));
  return copy;
}

const sizes = fc.integer({ min: 1, max: 300 });
const refused = expect.objectContaining({ code: 'unproven' });

describe('the tree of RFC 6962', () => {
  // The inputs and roots of the tests of Certificate Transparency.
  const inputs = [
    '',
    '00',
    '10',
    '2021',
    '3031',
    '40414243',
    '5051525354555657',
    '606162636465666768696a6b6c6d6e6f',
  ];
  const roots = [
    '6e340b9cffb37a989ca544e6bb780a2c78901d3fb33738768511a30617afa01d',
    'fac54203e7cc696cf0dfcb42c92a1d9dbaf70ad9e621f4bd8d98662f00e3c125',
    'aeb6bcfe274b70a14fb067a5e5578264db0fa9b51af5e0ba159158f329e06e77',
    'd37ee418976dd95753c1c73862b9398fa2a2cf9b4ff0fdfe8b30cd95209614b7',
    '4e3bbb1f7b478dcfe71fb631631519a3bca12c9aefca1612bfce4c13a86264d4',
    '76e67dadbcdf1e10e1b74ddc608abd2f98dfb16fbce75277b5232a127f2087ef',
    'ddb89be403809e325750d3d263cd78929c2942b7942a34b77e122c9594a74c8c',
    '5dc9da79a70659a9ad559cb701ded9a2ab9d823aad2f4960cfe370eff4604328',
  ];
  const entries = inputs.map((hex) => Uint8Array.from(Buffer.from(hex, 'hex')));

  test.each(roots.map((root, index) => [index + 1, root]))('has the known root at size %i', (size, root) => {
    const hash = rangeHash({ start: 0, end: size }, readerOf(entries.slice(0, size)));
    expect(Buffer.from(hash).toString('hex')).toBe(root);
  });

  test('has the hash of nothing as the root without entries', () => {
    expect(Buffer.from(emptyRoot).toString('hex')).toBe(
      'e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855',
    );
  });
});

test('proves the inclusion of every entry as RFC 6962 does, and of nothing else', () => {
  fc.assert(
    fc.property(sizes, fc.nat(), fc.nat(), fc.nat(), (size, position, other, bit) => {
      const entries = testEntries(size);
      const index = position % size;
      const read = readerOf(entries);
      const proof = inclusionRanges(index, size).map((range) => rangeHash(range, read));
      expect(proof).toEqual(naivePath(index, entries));

      const leaf = leafHash(entries[index] as Uint8Array);
      const claim = { index, size, root: naiveRoot(entries), leaf, proof };
      verifyInclusion(claim);
      expect(() => verifyInclusion({ ...claim, leaf: withFlippedBit(leaf, bit) })).toThrow(refused);
      expect(() => verifyInclusion({ ...claim, root: withFlippedBit(claim.root, bit) })).toThrow(refused);
      expect(() => verifyInclusion({ ...claim, leaf: leaf.subarray(1) })).toThrow(refused);
      expect(() => verifyInclusion({ ...claim, proof: [...proof, leaf] })).toThrow(refused);
      expect(() => verifyInclusion({ ...claim, proof: proof.slice(1), size: size + 1000 })).toThrow(refused);
      expect(() => verifyInclusion({ ...claim, index: size })).toThrow(refused);
      const wrongIndex = other % size;
      if (wrongIndex !== index)
        expect(() => verifyInclusion({ ...claim, index: wrongIndex })).toThrow(refused);
      for (const [place, hash] of proof.entries()) {
        const tampered = proof.with(place, withFlippedBit(hash, bit));
        expect(() => verifyInclusion({ ...claim, proof: tampered })).toThrow(refused);
        const cut = proof.with(place, hash.subarray(0, 31));
        expect(() => verifyInclusion({ ...claim, proof: cut })).toThrow(refused);
        expect(() => verifyInclusion({ ...claim, proof: proof.toSpliced(place, 1) })).toThrow(refused);
        expect(() => verifyInclusion({ ...claim, proof: proof.with(place, hash.subarray(1)) })).toThrow(
          refused,
        );
      }
    }),
    { numRuns: 150 },
  );
});

test('proves the consistency of every earlier size as RFC 6962 does, and of nothing else', () => {
  fc.assert(
    fc.property(sizes, fc.nat(), fc.nat(), (size, position, bit) => {
      const entries = testEntries(size);
      const oldSize = 1 + (position % size);
      const read = readerOf(entries);
      const proof = consistencyRanges(oldSize, size).map((range) => rangeHash(range, read));
      expect(proof).toEqual(naiveConsistency(oldSize, entries));

      const oldRoot = naiveRoot(entries.slice(0, oldSize));
      const claim = { oldSize, oldRoot, size, root: naiveRoot(entries), proof };
      verifyConsistency(claim);
      expect(() => verifyConsistency({ ...claim, oldRoot: withFlippedBit(oldRoot, bit) })).toThrow(refused);
      expect(() => verifyConsistency({ ...claim, root: withFlippedBit(claim.root, bit) })).toThrow(refused);
      expect(() => verifyConsistency({ ...claim, proof: [...proof, oldRoot] })).toThrow(refused);
      if (oldSize < size) {
        expect(() => verifyConsistency({ ...claim, oldSize: size, size: oldSize })).toThrow(refused);
      }
      for (const [place, hash] of proof.entries()) {
        const tampered = proof.with(place, withFlippedBit(hash, bit));
        expect(() => verifyConsistency({ ...claim, proof: tampered })).toThrow(refused);
        expect(() => verifyConsistency({ ...claim, proof: proof.toSpliced(place, 1) })).toThrow(refused);
      }
    }),
    { numRuns: 150 },
  );
});

test('finds a changed early entry by the consistency proof of a rewritten tree', () => {
  fc.assert(
    fc.property(fc.integer({ min: 2, max: 200 }), fc.nat(), fc.nat(), (size, position, place) => {
      const oldSize = 1 + (position % (size - 1));
      const entries = testEntries(size);
      const rewritten = entries.with(place % oldSize, leafHash(Buffer.from('another')));
      const proof = naiveConsistency(oldSize, rewritten);
      const oldRoot = naiveRoot(entries.slice(0, oldSize));
      const claim = { oldSize, oldRoot, size, root: naiveRoot(rewritten), proof };
      expect(() => verifyConsistency(claim)).toThrow(refused);
    }),
  );
});

test('accepts every tree after one without entries, whose root is known', () => {
  const claim = { oldSize: 0, oldRoot: emptyRoot, size: 3, root: naiveRoot(testEntries(3)), proof: [] };
  verifyConsistency(claim);
  expect(() => verifyConsistency({ ...claim, oldRoot: claim.root })).toThrow(refused);
});

test('computes proofs of trees beyond 2^32 entries', () => {
  const size = 2 ** 45 + 12_345;
  const ranges = inclusionRanges(2 ** 44 + 7, size);
  expect(ranges.reduce((sum, { start, end }) => sum + end - start, 1)).toBe(size);
  const from = consistencyRanges(2 ** 40 + 3, size);
  expect(from.at(-1)).toEqual({ start: 2 ** 45, end: size });
});

test('refuses an index or a size that is not in the tree', () => {
  expect(() => inclusionRanges(5, 5)).toThrow('`index` must be from 0 to 4 in a tree of 5 entries, got 5.');
  expect(() => inclusionRanges(0.5, 5)).toThrow(RangeError);
  expect(() => consistencyRanges(6, 5)).toThrow('`oldSize` must be from 0 to 5, got 6.');
});

test('recognizes its errors across copies of the package', () => {
  expect(LogError.is(new LogError('missing', 'gone'))).toBe(true);
  expect(LogError.is(new Error('gone'))).toBe(false);
});
