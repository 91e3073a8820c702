import type { VerifiedCheckpoint } from './checkpoint.ts';
import type { Findings } from './log-findings.ts';
import { completeRoot, equalBytes, hashBytes, leafHash } from './merkle.ts';
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

/**
 * Verifies all tiles and entries of a log from the top down: the last tile of each level by the root, every other tile by
 * its hash in the tile above, and every entry by its hash in the tile of its bundle.
 */
export async function verifyTiles(
  tiles: TileSource,
  { size, root }: Pick<VerifiedCheckpoint, 'size' | 'root'>,
  findings: Findings,
): Promise<void> {
  const all = size > 0 ? ([0, size - 1] as const) : undefined;
  try {
    if (!equalBytes(await treeRoot(tiles, size), root)) {
      const message =
        'The last tiles do not lead to the root of the checkpoint: entries were changed, removed or added.';
      findings.add('tile-changed', message, all ? { entries: all } : {});
    }
  } catch (error) {
    findings.addTileError(error, all);
  }
  // A full tile at the edge is verified as a part of the tile above it.
  for (const tile of edgeTiles(size).filter(({ width }) => width < tileWidth)) {
    await verifySubtree(tiles, tile, undefined, findings);
  }
}

/**
 * Verifies a tile, and everything below it.
 *
 * @param above - the tile above, and the hash that it has of this one; undefined for a tile at the edge
 */
async function verifySubtree(
  tiles: TileSource,
  tile: Tile,
  above: { readonly tile: Tile; readonly hash: Uint8Array } | undefined,
  findings: Findings,
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
  if (tile.level === 0) return verifyBundle(tiles, tile, hashes, findings);
  for (let place = 0; place < tile.width; place += readAtOnce) {
    const places = Array.from(
      { length: Math.min(readAtOnce, tile.width - place) },
      (_, next) => place + next,
    );
    await Promise.all(
      places.map((one) =>
        verifySubtree(tiles, childOf(tile, one), { tile, hash: hashAt(hashes, one) }, findings),
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

/** Returns the first of the entries before `size` that two copies of a log have differently. */
export async function firstDifference(
  left: TileSource,
  right: TileSource,
  size: number,
): Promise<number | undefined> {
  for (let index = 0; ; index += 1) {
    const tile = tileAt(0, index, size);
    if (!tile) return undefined;
    const [one, other] = await Promise.all([readHashes(left, tile), readHashes(right, tile)]);
    if (equalBytes(one, other)) continue;
    const at = one.findIndex((byte, place) => byte !== other[place]);
    return index * tileWidth + Math.floor(at / hashBytes);
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
