import { createHash } from 'node:crypto';
import { type StoredTile, type Tile, type TileStore, tilePath, tileWidth } from '../src/tiles.ts';

/** Tiles in memory, by path. */
export class MemoryTiles implements TileStore {
  readonly files = new Map<string, Uint8Array>();

  async readTile(tile: Tile): Promise<Uint8Array | undefined> {
    return this.files.get(tilePath(tile));
  }

  async writeTiles(tiles: readonly StoredTile[]): Promise<void> {
    for (const { tile, bytes } of tiles) this.files.set(tilePath(tile), bytes);
  }

  /** Removes the partial tiles whose full tiles exist, as a log may do. */
  dropReplacedTiles(): void {
    for (const path of this.files.keys()) {
      const [full, width] = path.split('.p/');
      if (width !== undefined && this.files.has(full as string)) this.files.delete(path);
    }
  }
}

/** Returns entries that differ from each other, as long as those of actlog. */
export function testEntries(count: number, seed = 0): Uint8Array[] {
  return Array.from({ length: count }, (_, index) =>
    createHash('sha256').update(`${seed} ${index}`).digest(),
  );
}

/** Sizes at which tiles begin, fill up or rise to the next level. */
export const edgeSizes = [0, 1, 2, 255, 256, 257, 2 * tileWidth, 2 * tileWidth + 1, 1000];
