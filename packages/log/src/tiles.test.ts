import fc from 'fast-check';
import { expect, test } from 'vitest';
import { edgeSizes, MemoryTiles, testEntries } from '../tests/memory-tiles.ts';
import { naiveConsistency, naivePath, naiveRoot } from '../tests/naive-tree.ts';
import { leafHash, verifyConsistency, verifyInclusion } from './merkle.ts';
import {
  appendEntries,
  consistencyProof,
  edgeTiles,
  inclusionProof,
  parseTilePath,
  readEntries,
  tileAt,
  tilePath,
  treeRoot,
} from './tiles.ts';

async function treeOf(entries: readonly Uint8Array[], batches: readonly number[] = [entries.length]) {
  const tiles = new MemoryTiles();
  let size = 0;
  let root = (await appendEntries(tiles, 0, [])).root;
  for (const batch of batches) {
    ({ size, root } = await appendEntries(tiles, size, entries.slice(size, size + batch)));
  }
  return { tiles, size, root };
}

test.each([
  [{ level: 0, index: 0, width: 256 }, 'tile/0/000'],
  [{ level: 0, index: 1_234_067, width: 256 }, 'tile/0/x001/x234/067'],
  [{ level: 'entries', index: 999, width: 5 }, 'tile/entries/999.p/5'],
  [{ level: 63, index: 1000, width: 255 }, 'tile/63/x001/000.p/255'],
] as const)('writes and reads the path of %o', (tile, path) => {
  expect(tilePath(tile)).toBe(path);
  expect(parseTilePath(path)).toEqual(tile);
});

test('reads back the path of any tile', () => {
  const level = fc.oneof(fc.integer({ min: 0, max: 63 }), fc.constant('entries' as const));
  const tile = fc.record({ level, index: fc.maxSafeNat(), width: fc.integer({ min: 1, max: 256 }) });
  fc.assert(
    fc.property(tile, (one) => {
      expect(parseTilePath(tilePath(one))).toEqual(one);
    }),
  );
});

test.each([
  'tile/0/0',
  'tile/00/000',
  'tile/64/000',
  'tile/0/x000/001',
  'tile/0/000.p/0',
  'tile/0/000.p/256',
  'tile/0/000.p/01',
  'tile/0/x001',
  'tile/0/../000',
  'tile/data/000',
  'tile/0/x999/x999/x999/x999/x999/x999/999',
  '/tile/0/000',
])('refuses the path %s', (path) => {
  expect(() => parseTilePath(path)).toThrow('The path of a tile must be as in');
});

test('names the tiles of a tree of 70,000 entries as C2SP does', () => {
  expect(edgeTiles(70_000).map(tilePath)).toEqual(['tile/0/273.p/112', 'tile/1/001.p/17', 'tile/2/000.p/1']);
  expect(edgeTiles(256).map(tilePath)).toEqual(['tile/0/000', 'tile/1/000.p/1']);
  expect(tileAt(0, 273, 70_000)?.width).toBe(112);
  expect(tileAt(0, 274, 70_000)).toBeUndefined();
});

test.each(edgeSizes)('has the root of RFC 6962 at size %i', async (size) => {
  const entries = testEntries(size);
  const { tiles, root } = await treeOf(entries);
  expect(root).toEqual(naiveRoot(entries));
  expect(await treeRoot(tiles, size)).toEqual(naiveRoot(entries));
});

test('appends any batches with the same result, and proves every entry and earlier size', async () => {
  const batches = fc.array(fc.oneof(fc.integer({ min: 0, max: 40 }), fc.integer({ min: 200, max: 600 })), {
    minLength: 1,
    maxLength: 5,
  });
  await fc.assert(
    fc.asyncProperty(batches, fc.nat(), fc.nat(), async (counts, position, earlier) => {
      const total = counts.reduce((sum, count) => sum + count, 0);
      const entries = testEntries(total);
      const { tiles, size, root } = await treeOf(entries, counts);
      expect(size).toBe(total);
      expect(root).toEqual(naiveRoot(entries));
      if (total === 0) return;
      tiles.dropReplacedTiles();

      const index = position % total;
      const inclusion = await inclusionProof(tiles, index, total);
      expect(inclusion).toEqual(naivePath(index, entries));
      verifyInclusion({ index, size, root, leaf: leafHash(entries[index] as Uint8Array), proof: inclusion });

      const oldSize = 1 + (earlier % total);
      const consistency = await consistencyProof(tiles, oldSize, total);
      expect(consistency).toEqual(naiveConsistency(oldSize, entries));
      const oldRoot = naiveRoot(entries.slice(0, oldSize));
      verifyConsistency({ oldSize, oldRoot, size, root, proof: consistency });
    }),
    { numRuns: 30 },
  );
});

test('proves entries of an earlier tree from the tiles of a later one', async () => {
  const entries = testEntries(700);
  const { tiles } = await treeOf(entries);
  expect(await inclusionProof(tiles, 3, 300)).toEqual(naivePath(3, entries.slice(0, 300)));
});

test('reads entries of any length back from bundles', async () => {
  const entries = [Buffer.alloc(0), Buffer.from('a'), Buffer.alloc(65_535, 7), ...testEntries(300)];
  const { tiles, size } = await treeOf(entries, [2, 301]);
  const read = [];
  for (let index = 0; index < 2; index += 1) {
    const tile = tileAt('entries', index, size);
    if (tile) read.push(...(await readEntries(tiles, tile)));
  }
  expect(read.map((entry) => Buffer.from(entry))).toEqual(entries.map((entry) => Buffer.from(entry)));
  await expect(appendEntries(tiles, size, [Buffer.alloc(65_536)])).rejects.toThrow(
    'An entry must have at most 65535 bytes, got 65536.',
  );
});

test('names a tile that is missing, cut or longer than it must be', async () => {
  const { tiles } = await treeOf(testEntries(300));
  const full = tiles.files.get('tile/0/000') as Uint8Array;
  tiles.files.set('tile/0/000', full.subarray(1));
  await expect(inclusionProof(tiles, 3, 300)).rejects.toThrow(
    'tile/0/000 must have 8192 bytes, got 8191; it was cut or changed.',
  );
  tiles.files.delete('tile/0/000');
  await expect(inclusionProof(tiles, 3, 300)).rejects.toMatchObject({
    code: 'missing',
    message: 'tile/0/000 is missing; restore it from a copy of the log.',
  });
  const bundle = tiles.files.get('tile/entries/001.p/44') as Uint8Array;
  for (const bytes of [
    bundle.subarray(0, -1),
    bundle.subarray(34),
    Buffer.concat([bundle, bundle.subarray(0, 34)]),
  ]) {
    tiles.files.set('tile/entries/001.p/44', bytes);
    await expect(appendEntries(tiles, 300, testEntries(1))).rejects.toMatchObject({ code: 'malformed' });
  }
});

test('writes nothing when it cannot read the right edge', async () => {
  const { tiles } = await treeOf(testEntries(300));
  tiles.files.delete('tile/1/000.p/1');
  const before = new Map(tiles.files);
  await expect(appendEntries(tiles, 300, testEntries(2))).rejects.toMatchObject({ code: 'missing' });
  expect(tiles.files).toEqual(before);
});

test('reads only the right edge of a large log to append', async () => {
  const { tiles } = await treeOf(testEntries(70_000));
  const read: string[] = [];
  const store = {
    readTile: (tile: Parameters<typeof tilePath>[0]) => {
      read.push(tilePath(tile));
      return tiles.readTile(tile);
    },
    writeTiles: tiles.writeTiles.bind(tiles),
  };
  await appendEntries(store, 70_000, testEntries(3, 1));
  expect(new Set(read)).toEqual(
    new Set(['tile/entries/273.p/112', 'tile/0/273.p/112', 'tile/1/001.p/17', 'tile/2/000.p/1']),
  );
});
