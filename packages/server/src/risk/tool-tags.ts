import { proposedAction } from '@actlog/protocol/schemas';
import { TOOL_TAGS, type ToolTag } from '@actlog/risk';
import { lockNames } from '../storage/locks.ts';
import { insertToolTags, newestToolTags } from '../storage/tool-tag-store.ts';
import type { Database } from '../storage/transaction.ts';

/** Tags by tool name. An empty list says that the tool does nothing that a rule looks at. */
export type ToolTags = Readonly<Record<string, readonly ToolTag[]>>;

/** What to change: the tags of a tool, or null to go by its name again. Tools that are not named stay as they are. */
export type ToolTagChanges = Readonly<Record<string, readonly ToolTag[] | null>>;

/** Tools whose tags a tenant may correct. */
const mostTools = 1000;

/** The tags that a tenant has corrected, sorted by tool name. */
export async function readToolTags(db: Database, tenantId: number): Promise<ToolTags> {
  return parsed((await newestToolTags(db, tenantId))?.tags);
}

/**
 * Corrects tags of a tenant's tools, for sessions that begin from now on.
 *
 * @returns all tags that the tenant has corrected.
 * @throws TypeError for a name or a tag that is none; RangeError for too many tools.
 */
export async function changeToolTags(
  db: Database,
  tenantId: number,
  changes: ToolTagChanges,
): Promise<ToolTags> {
  const checked = Object.entries(changes).map(([tool, tags]) => [checkedName(tool), checkedTags(tool, tags)]);
  // Read, changed and written back.
  await lockNames(db, tenantId, ['tool tags']);
  const stored = await newestToolTags(db, tenantId);
  const merged = new Map<string, readonly ToolTag[] | null>([
    ...Object.entries(parsed(stored?.tags)),
    ...(checked as [string, readonly ToolTag[] | null][]),
  ]);
  const kept = [...merged]
    .filter(([, tags]) => tags !== null)
    .sort(([left], [right]) => (left < right ? -1 : 1));
  if (kept.length > mostTools) {
    throw new RangeError(
      `The tags of ${kept.length} tools would be corrected, and ${mostTools} may be; take some back with null.`,
    );
  }
  const tags = JSON.stringify(Object.fromEntries(kept));
  if (tags !== (stored?.tags ?? '{}')) {
    await insertToolTags(db, tenantId, { version: (stored?.version ?? 0) + 1, tags });
  }
  return parsed(tags);
}

function parsed(text: string | undefined): ToolTags {
  return text === undefined ? {} : (JSON.parse(text) as ToolTags);
}

function checkedName(tool: string): string {
  const { error } = proposedAction.shape.toolName.safeParse(tool);
  if (!error) return tool;
  throw new TypeError(`"${tool.slice(0, 50)}" is not the name of a tool: ${error.issues[0]?.message}.`);
}

/** The tags in the order of the taxonomy, each once. */
function checkedTags(tool: string, tags: readonly ToolTag[] | null): readonly ToolTag[] | null {
  if (tags === null) return null;
  if (!Array.isArray(tags)) {
    throw new TypeError(`The tags of "${tool}" must be an array, or null to go by the tool's name again.`);
  }
  const unknown = tags.find((tag) => !TOOL_TAGS.includes(tag));
  if (unknown !== undefined) {
    throw new TypeError(`"${tool}" cannot have the tag "${unknown}"; there are: ${TOOL_TAGS.join(', ')}.`);
  }
  if (tags.includes('unknown') && tags.length > 1) {
    throw new TypeError(`"${tool}" cannot have the tag "unknown" beside others; leave it out.`);
  }
  return TOOL_TAGS.filter((tag) => tags.includes(tag));
}
