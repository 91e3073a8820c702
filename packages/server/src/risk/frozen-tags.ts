import { tagBits } from '@actlog/risk';
import { keepNewest } from '../lib/keep-newest.ts';
import { toolTagsOf } from '../storage/stores/tool-tag-store.ts';
import type { Database } from '../storage/transaction.ts';
import type { ToolTags } from './tool-tags.ts';

/** Tags by tool name, in the engine's format. */
export type FrozenToolTags = ReadonlyMap<string, number>;

/** Maximum number of cached versions. */
const maxVersions = 100;

const noTags: FrozenToolTags = new Map();

/** Cache of the versions of tags that sessions began with. A version never changes, so it is read once. */
export class FrozenTags {
  readonly #versions = new Map<string, FrozenToolTags>();

  /** Returns the tags of a version; no tags for `null`. */
  async of(db: Database, tenantId: number, version: number | null): Promise<FrozenToolTags> {
    if (version === null) return noTags;
    const key = `${tenantId} ${version}`;
    const cached = this.#versions.get(key);
    if (cached) return cached;
    const byTool = JSON.parse(await toolTagsOf(db, tenantId, version)) as ToolTags;
    const tags = new Map(Object.entries(byTool).map(([tool, names]) => [tool, tagBits(...names)]));
    keepNewest(this.#versions, key, tags, maxVersions);
    return tags;
  }
}
