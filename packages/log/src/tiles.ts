import { LogError, malformed, shown } from './log-error.ts';
import {
  completeRoot,
  consistencyRanges,
  type EntryRange,
  type HashPlace,
  type HashReader,
  hashBytes,
  inclusionRanges,
  leafHashes,
  rangeHash,
  subtreesOf,
} from './merkle.ts';

/** Number of hashes in a full tile, and of entries in a full bundle. */
export const tileWidth = 256;

const tileHeight = 8;

/**
 * A tile of a tree (C2SP tlog-tiles): `width` consecutive hashes at level `8 * level`, or a bundle of entries. Only the
 * last tile of a level is partial, with less than 256.
 */
export interface Tile {
  readonly level: number | 'entries';
  readonly index: number;
  readonly width: number;
}

/** A tile with its content. */
export interface StoredTile {
  readonly tile: Tile;
  readonly bytes: Uint8Array;
}

/** Tiles of one log, to read. */
export interface TileSource {
  /** Returns the content of a tile, or undefined if the log does not have it. */
  readTile(tile: Tile): Promise<Uint8Array | undefined>;
}

/** Tiles of one log, to read and to write. */
export interface TileStore extends TileSource {
  /** Stores new tiles, all or none of them. A full tile is never written with another content. */
  writeTiles(tiles: readonly StoredTile[]): Promise<void>;
}

/** Returns the path of a tile below the prefix of its log, such as `tile/0/x001/234.p/5`. */
export function tilePath({ level, index, width }: Tile): string {
  const groups = [String(index % 1000).padStart(3, '0')];
  for (let rest = Math.floor(index / 1000); rest > 0; rest = Math.floor(rest / 1000)) {
    groups.unshift(`x${String(rest % 1000).padStart(3, '0')}`);
  }
  return `tile/${level}/${groups.join('/')}${width === tileWidth ? '' : `.p/${width}`}`;
}

const pathPattern = /^tile\/(entries|[0-9]|[1-5][0-9]|6[0-3])\/((?:x\d{3}\/)*\d{3})(?:\.p\/([1-9]\d{0,2}))?$/;

/**
 * Parses the path of a tile below the prefix of its log.
 *
 * @throws LogError `malformed` when it is not the path of a tile
 */
export function parseTilePath(path: string): Tile {
  const [, level = '', groups = '', width] = pathPattern.exec(path) ?? [];
  const index = Number(groups.replaceAll(/[x/]/g, ''));
  const tile = {
    level: level === 'entries' ? level : Number(level),
    index,
    width: width === undefined ? tileWidth : Number(width),
  } as const;
  const isPartial = width !== undefined;
  // Only one path leads to a tile: no `x000/` at the front, and no partial tile of full width.
  if (
    groups === '' ||
    !Number.isSafeInteger(index) ||
    (isPartial && tile.width >= tileWidth) ||
    tilePath(tile) !== path
  ) {
    throw malformed('The path of a tile', `must be as in "tile/0/x001/234.p/5", got ${shown(path)}.`);
  }
  return tile;
}

/** Returns the number of hashes at a level of tiles of a tree: full tiles of the level below, or entries. */
function hashesAt(level: number, size: number): number {
  return Math.floor(size / 2 ** (tileHeight * level));
}

/** Returns a tile as wide as it is in a tree of a size; undefined if the tree does not have it. */
export function tileAt(level: number | 'entries', index: number, size: number): Tile | undefined {
  const hashes = hashesAt(level === 'entries' ? 0 : level, size);
  const width = Math.min(tileWidth, hashes - index * tileWidth);
  return width > 0 ? { level, index, width } : undefined;
}

/** Returns the tiles at the right edge of a tree, one per level from the bottom up. Their hashes make the root. */
export function edgeTiles(size: number): Tile[] {
  const tiles: Tile[] = [];
  for (let level = 0; hashesAt(level, size) > 0; level += 1) {
    const tile = tileAt(level, Math.floor((hashesAt(level, size) - 1) / tileWidth), size);
    if (tile) tiles.push(tile);
  }
  return tiles;
}

/**
 * Reads a tile of hashes, from the full tile where a partial one is gone, as clients of C2SP tlog-tiles do.
 *
 * @throws LogError `missing` when the source does not have it; `malformed` when its length is wrong
 */
export async function readHashes(source: TileSource, tile: Tile): Promise<Uint8Array> {
  const [bytes, width] = await readTileOrFull(source, tile);
  if (bytes.length !== width * hashBytes) {
    throw malformed(
      tilePath({ ...tile, width }),
      `must have ${width * hashBytes} bytes, got ${bytes.length}; it was cut or changed.`,
    );
  }
  return bytes.subarray(0, tile.width * hashBytes);
}

/**
 * Reads the entries of a bundle.
 *
 * @throws LogError `missing` when the source does not have it; `malformed` when it is not a bundle of that width
 */
export async function readEntries(source: TileSource, tile: Tile): Promise<Uint8Array[]> {
  const [bytes, width] = await readTileOrFull(source, tile);
  return parseBundle(bytes, { ...tile, width }).slice(0, tile.width);
}

async function readTileOrFull(source: TileSource, tile: Tile): Promise<[bytes: Uint8Array, width: number]> {
  const bytes = await source.readTile(tile);
  if (bytes) return [bytes, tile.width];
  const full = tile.width < tileWidth ? await source.readTile({ ...tile, width: tileWidth }) : undefined;
  if (full) return [full, tileWidth];
  throw new LogError('missing', `${tilePath(tile)} is missing; restore it from a copy of the log.`);
}

/** Returns the content of a bundle: each entry with its length in two bytes before it. */
export function formatBundle(entries: readonly Uint8Array[]): Uint8Array {
  let length = 0;
  for (const entry of entries) {
    if (entry.length > 0xffff) {
      throw new RangeError(`An entry must have at most 65535 bytes, got ${entry.length}.`);
    }
    length += 2 + entry.length;
  }
  const bundle = Buffer.allocUnsafe(length);
  let at = 0;
  for (const entry of entries) {
    bundle.writeUInt16BE(entry.length, at);
    bundle.set(entry, at + 2);
    at += 2 + entry.length;
  }
  return bundle;
}

function parseBundle(bytes: Uint8Array, tile: Tile): Uint8Array[] {
  const entries: Uint8Array[] = [];
  let at = 0;
  while (at + 2 <= bytes.length) {
    const length = ((bytes[at] as number) << 8) | (bytes[at + 1] as number);
    if (at + 2 + length > bytes.length) break;
    entries.push(bytes.subarray(at + 2, at + 2 + length));
    at += 2 + length;
  }
  if (at !== bytes.length || entries.length !== tile.width) {
    throw malformed(
      tilePath(tile),
      `must be ${tile.width} entries, each after its length, got ${entries.length} and ${bytes.length - at} more bytes.`,
    );
  }
  return entries;
}

/** Returns the tile with the hashes that the root of a subtree is computed from. */
function tileOf({ level, index }: HashPlace, size: number): Tile {
  const tileLevel = Math.floor(level / tileHeight);
  const width = 2 ** (level % tileHeight);
  const tile = tileAt(tileLevel, Math.floor((index * width) / tileWidth), size);
  if (tile) return tile;
  throw new RangeError(`A tree of ${size} entries has no subtree ${index} at level ${level}.`);
}

/**
 * Reads the hashes that ranges of a tree need. They are only as trustworthy as the source until a proof is verified
 * against a signed root.
 *
 * @throws LogError when a tile is missing or malformed
 */
export async function loadHashes(
  source: TileSource,
  size: number,
  ranges: readonly EntryRange[],
): Promise<HashReader> {
  const tiles = new Map(
    ranges.flatMap(subtreesOf).map((place) => {
      const tile = tileOf(place, size);
      return [tilePath(tile), tile];
    }),
  );
  const loaded = await Promise.all(
    [...tiles].map(async ([path, tile]) => [path, await readHashes(source, tile)] as const),
  );
  const hashes = new Map(loaded);
  return (level, index) => {
    const tile = tileOf({ level, index }, size);
    const bytes = hashes.get(tilePath(tile)) as Uint8Array;
    const width = 2 ** (level % tileHeight);
    const first = index * width - tile.index * tileWidth;
    return completeRoot(bytes.subarray(first * hashBytes, (first + width) * hashBytes));
  };
}

/**
 * Computes the root of a tree from its tiles at the right edge.
 *
 * @throws LogError when a tile is missing or malformed
 */
export async function treeRoot(source: TileSource, size: number): Promise<Uint8Array> {
  const range = { start: 0, end: size };
  return rangeHash(range, await loadHashes(source, size, [range]));
}

/**
 * Computes the inclusion proof of an entry from tiles (RFC 6962, section 2.1.1).
 *
 * @throws LogError when a tile is missing or malformed
 * @throws RangeError when the tree has no such entry
 */
export async function inclusionProof(source: TileSource, index: number, size: number): Promise<Uint8Array[]> {
  return proofOf(source, size, inclusionRanges(index, size));
}

/**
 * Computes the consistency proof between two sizes from tiles (RFC 6962, section 2.1.2).
 *
 * @throws LogError when a tile is missing or malformed
 * @throws RangeError when the old size is larger
 */
export async function consistencyProof(
  source: TileSource,
  oldSize: number,
  size: number,
): Promise<Uint8Array[]> {
  return proofOf(source, size, consistencyRanges(oldSize, size));
}

async function proofOf(
  source: TileSource,
  size: number,
  ranges: readonly EntryRange[],
): Promise<Uint8Array[]> {
  const read = await loadHashes(source, size, ranges);
  return ranges.map((range) => rangeHash(range, read));
}

/**
 * Appends entries to a log: reads the partial tiles at the right edge, and writes the tiles of the larger tree. Nothing
 * else is read, so the cost does not depend on the size of the log.
 *
 * @param size - number of entries so far
 * @returns the size and the root of the larger tree
 * @throws LogError when a tile is missing or malformed
 */
export async function appendEntries(
  store: TileStore,
  size: number,
  entries: readonly Uint8Array[],
): Promise<{ size: number; root: Uint8Array }> {
  const newSize = size + entries.length;
  const written = new Map<string, StoredTile>();
  if (entries.length > 0) {
    for (const tile of [
      ...(await newBundles(store, size, entries)),
      ...(await newTiles(store, size, entries)),
    ]) {
      written.set(tilePath(tile.tile), tile);
    }
  }
  const source: TileSource = {
    readTile: async (tile) => written.get(tilePath(tile))?.bytes ?? store.readTile(tile),
  };
  const root = await treeRoot(source, newSize);
  if (written.size > 0) await store.writeTiles([...written.values()]);
  return { size: newSize, root };
}

async function newBundles(
  source: TileSource,
  size: number,
  entries: readonly Uint8Array[],
): Promise<StoredTile[]> {
  const partial = size % tileWidth === 0 ? undefined : tileAt('entries', Math.floor(size / tileWidth), size);
  const all = partial ? [...(await readEntries(source, partial)), ...entries] : entries;
  const firstIndex = Math.floor(size / tileWidth);
  return Array.from({ length: Math.ceil(all.length / tileWidth) }, (_, bundle) => {
    const within = all.slice(bundle * tileWidth, (bundle + 1) * tileWidth);
    const tile = { level: 'entries', index: firstIndex + bundle, width: within.length } as const;
    return { tile, bytes: formatBundle(within) };
  });
}

async function newTiles(
  source: TileSource,
  size: number,
  entries: readonly Uint8Array[],
): Promise<StoredTile[]> {
  const written: StoredTile[] = [];
  let hashes = leafHashes(entries);
  for (let level = 0; hashes.length > 0; level += 1) {
    const known = hashesAt(level, size);
    const firstIndex = Math.floor(known / tileWidth);
    const partial = known % tileWidth === 0 ? undefined : tileAt(level, firstIndex, size);
    const bytes = partial ? Buffer.concat([await readHashes(source, partial), hashes]) : hashes;
    const roots: Uint8Array[] = [];
    for (let at = 0; at < bytes.length; at += tileWidth * hashBytes) {
      const within = bytes.subarray(at, at + tileWidth * hashBytes);
      const width = within.length / hashBytes;
      const index = firstIndex + at / (tileWidth * hashBytes);
      written.push({ tile: { level, index, width }, bytes: within });
      if (width === tileWidth) roots.push(completeRoot(within));
    }
    hashes = Buffer.concat(roots);
  }
  return written;
}
