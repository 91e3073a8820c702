import type { VerifiedCheckpoint } from './checkpoint.ts';
import type { Findings } from './log-findings.ts';
import { completeRoot, equalBytes, hashBytes, leafHash, sha256 } from './merkle.ts';
import {
  edgeTiles,
  readEntries,
  readHashes,
  type Tile,
  type TileSource,
  tileAt,
  tilePath,
  tileWidth,
  treeRoot,
} from './tiles.ts';

/** Number of tiles that are read at once. */
const readAtOnce = 16;

/** Tiles of hashes of entries that were verified: the SHA-256 of each tile by its index. */
export type VerifiedTiles = ReadonlyMap<number, Uint8Array>;

/**
 * Verifies all tiles and entries of a log from the top down: the last tile of each level by the root, every other tile by
 * its hash in the tile above, and every entry by its hash in the tile of its bundle.
 *
 * Each tile is read once, because a dishonest log may return another one the next time.
 */
export async function verifyTiles(
  tiles: TileSource,
  { size, root }: Pick<VerifiedCheckpoint, 'size' | 'root'>,
  findings: Findings,
): Promise<VerifiedTiles> {
  const edge = rememberTiles(tiles);
  const all = size > 0 ? ([0, size - 1] as const) : undefined;
  try {
    if (!equalBytes(await treeRoot(edge, size), root)) {
      const message =
        'The last tiles do not lead to the root of the checkpoint: entries were changed, removed or added.';
      findings.add('tile-changed', message, all ? { entries: all } : {});
    }
  } catch (error) {
    findings.addTileError(error, all);
  }
  const run: Run = { tiles, findings, verified: new Map() };
  // A full tile at the edge is verified as a part of the tile above it.
  for (const tile of edgeTiles(size).filter(({ width }) => width < tileWidth)) {
    await verifySubtree({ ...run, tiles: edge }, tile, undefined, run);
  }
  return run.verified;
}

interface Run {
  readonly tiles: TileSource;
  readonly findings: Findings;
  readonly verified: Map<number, Uint8Array>;
}

/** Returns a source that reads each tile once. */
function rememberTiles(tiles: TileSource): TileSource {
  const read = new Map<string, Promise<Uint8Array | undefined>>();
  return {
    readTile(tile) {
      const path = tilePath(tile);
      const bytes = read.get(path) ?? tiles.readTile(tile);
      read.set(path, bytes);
      return bytes;
    },
  };
}

/**
 * Verifies a tile, and everything below it.
 *
 * @param above - the tile above, and the hash that it has of this one; undefined for a tile at the edge
 * @param below - reads the tiles below this one
 */
async function verifySubtree(
  { tiles, findings, verified }: Run,
  tile: Tile,
  above: { readonly tile: Tile; readonly hash: Uint8Array } | undefined,
  below: Run,
): Promise<void> {
  const entries = entriesOf(tile);
  let hashes: Uint8Array;
  try {
    hashes = await readHashes(tiles, tile);
  } catch (error) {
    findings.addTileError(error, entries);
    return;
  }
  if (above && !equalBytes(completeRoot(hashes), above.hash)) {
    const message = `${tilePath(tile)} does not fit its hash in ${tilePath(above.tile)}: of entries ${entries[0]} to ${entries[1]}, at least one was changed.`;
    findings.add('tile-changed', message, { entries });
  }
  if (tile.level === 0) {
    verified.set(tile.index, sha256(hashes));
    return verifyBundle(tiles, tile, hashes, findings);
  }
  for (let place = 0; place < tile.width; place += readAtOnce) {
    const places = Array.from(
      { length: Math.min(readAtOnce, tile.width - place) },
      (_, next) => place + next,
    );
    await Promise.all(
      places.map((one) =>
        verifySubtree(below, childOf(tile, one), { tile, hash: hashAt(hashes, one) }, below),
      ),
    );
  }
}

async function verifyBundle(
  tiles: TileSource,
  tile: Tile,
  hashes: Uint8Array,
  findings: Findings,
): Promise<void> {
  const bundle = { ...tile, level: 'entries' } as const;
  try {
    for (const [place, entry] of (await readEntries(tiles, bundle)).entries()) {
      if (equalBytes(leafHash(entry), hashAt(hashes, place))) continue;
      const index = tile.index * tileWidth + place;
      const message = `Entry ${index} in ${tilePath(bundle)} is not the one that ${tilePath(tile)} has.`;
      findings.add('entry-changed', message, { entries: [index, index] });
    }
  } catch (error) {
    findings.addTileError(error, entriesOf(tile));
  }
}

/** A copy of a log, or of its beginning. */
export interface LogCopy {
  readonly tiles: TileSource;
  readonly size: number;
}

/**
 * Returns the first entry that two copies of a log have differently, as far as both have entries; undefined if there is
 * none.
 *
 * @throws LogError when a tile is missing or malformed
 */
export async function firstDifference(left: LogCopy, right: LogCopy): Promise<number | undefined> {
  for (let index = 0; ; index += 1) {
    const [ofLeft, ofRight] = [tileAt(0, index, left.size), tileAt(0, index, right.size)];
    if (!ofLeft || !ofRight) return undefined;
    const [one, other] = await Promise.all([
      readHashes(left.tiles, ofLeft),
      readHashes(right.tiles, ofRight),
    ]);
    for (let place = 0; place < Math.min(ofLeft.width, ofRight.width); place += 1) {
      if (!equalBytes(hashAt(one, place), hashAt(other, place))) return index * tileWidth + place;
    }
  }
}

function childOf(tile: Tile, place: number): Tile {
  return { level: (tile.level as number) - 1, index: tile.index * tileWidth + place, width: tileWidth };
}

function hashAt(hashes: Uint8Array, place: number): Uint8Array {
  return hashes.subarray(place * hashBytes, (place + 1) * hashBytes);
}

/** Returns the first and the last entry below a tile. */
function entriesOf({ level, index, width }: Tile): readonly [first: number, last: number] {
  const span = tileWidth ** (level as number);
  const first = index * tileWidth * span;
  return [first, first + width * span - 1];
}
