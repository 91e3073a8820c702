import { tagBits } from '@actlog/risk';
import { keepNewest } from '../keep-newest.ts';
import { toolTagsOf } from '../storage/tool-tag-store.ts';
import type { Database } from '../storage/transaction.ts';
import type { ToolTags } from './tool-tags.ts';

/** Tags by tool name, as the engine takes them. */
export type FrozenToolTags = ReadonlyMap<string, number>;

/** Versions of tags kept at hand. */
const keptVersions = 100;

const noTags: FrozenToolTags = new Map();

/** The versions of tags that sessions began with. A version is never changed, so that it is read once. */
export class FrozenTags {
  readonly #versions = new Map<string, FrozenToolTags>();

  /** The tags of a version; none for null. */
  async of(db: Database, tenantId: number, version: number | null): Promise<FrozenToolTags> {
    if (version === null) return noTags;
    const key = `${tenantId} ${version}`;
    const kept = this.#versions.get(key);
    if (kept) return kept;
    const byTool = JSON.parse(await toolTagsOf(db, tenantId, version)) as ToolTags;
    const tags = new Map(Object.entries(byTool).map(([tool, names]) => [tool, tagBits(...names)]));
    keepNewest(this.#versions, key, tags, keptVersions);
    return tags;
  }
}
