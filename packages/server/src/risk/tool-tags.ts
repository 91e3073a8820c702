import { proposedAction } from '@actlog/protocol/schemas';
import { type ToolTag, tagBits, toolTags } from '@actlog/risk';
import { keepNewest } from '../lib/keep-newest.ts';
import { lockNames } from '../storage/locks.ts';
import { insertToolTags, newestToolTags, toolTagsOf } from '../storage/stores/tool-tag-store.ts';
import type { Database } from '../storage/transaction.ts';

/** Tags by tool name. An empty list means that no rule applies to the tool. */
export type ToolTags = Readonly<Record<string, readonly ToolTag[]>>;

/** Changes of tags by tool name; `null` restores the classification by name. Other tools are unchanged. */
export type ToolTagChanges = Readonly<Record<string, readonly ToolTag[] | null>>;

/** Maximum number of tools with corrected tags per tenant. */
const maxTools = 1000;

/** Returns the corrected tags of a tenant, sorted by tool name. */
export async function readToolTags(db: Database, tenantId: number): Promise<ToolTags> {
  return parsed((await newestToolTags(db, tenantId))?.tags);
}

/**
 * Changes the tags of a tenant's tools, for sessions that begin from now on.
 *
 * @returns all corrected tags of the tenant.
 * @throws TypeError for an invalid name or tag; RangeError for too many tools.
 */
export async function changeToolTags(
  db: Database,
  tenantId: number,
  changes: ToolTagChanges,
): Promise<ToolTags> {
  const checked = Object.entries(changes).map(([tool, tags]) => [parseName(tool), parseTags(tool, tags)]);
  // Locked, because the tags are read, changed and written back.
  await lockNames(db, tenantId, ['tool tags']);
  const stored = await newestToolTags(db, tenantId);
  const merged = new Map<string, readonly ToolTag[] | null>([
    ...Object.entries(parsed(stored?.tags)),
    ...(checked as [string, readonly ToolTag[] | null][]),
  ]);
  const remaining = [...merged]
    .filter(([, tags]) => tags !== null)
    .sort(([left], [right]) => (left < right ? -1 : 1));
  if (remaining.length > maxTools) {
    throw new RangeError(
      `${remaining.length} tools would have corrected tags, and the maximum is ${maxTools}; reset some with null.`,
    );
  }
  const tags = JSON.stringify(Object.fromEntries(remaining));
  if (tags !== (stored?.tags ?? '{}')) {
    await insertToolTags(db, tenantId, { version: (stored?.version ?? 0) + 1, tags });
  }
  return parsed(tags);
}

function parsed(text: string | undefined): ToolTags {
  return text === undefined ? {} : (JSON.parse(text) as ToolTags);
}

function parseName(tool: string): string {
  const { error } = proposedAction.shape.toolName.safeParse(tool);
  if (!error) return tool;
  throw new TypeError(`"${tool.slice(0, 50)}" is not the name of a tool: ${error.issues[0]?.message}.`);
}

/** Returns the tags in the order of the taxonomy, without duplicates. */
function parseTags(tool: string, tags: readonly ToolTag[] | null): readonly ToolTag[] | null {
  if (tags === null) return null;
  if (!Array.isArray(tags)) {
    throw new TypeError(
      `The tags of "${tool}" must be an array, or null to classify the tool by name again.`,
    );
  }
  const unknown = tags.find((tag) => !toolTags.includes(tag));
  if (unknown !== undefined) {
    throw new TypeError(`"${tool}" cannot have the tag "${unknown}"; the tags are: ${toolTags.join(', ')}.`);
  }
  if (tags.includes('unknown') && tags.length > 1) {
    throw new TypeError(`"${tool}" cannot have the tag "unknown" together with others; leave it out.`);
  }
  return toolTags.filter((tag) => tags.includes(tag));
}

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
