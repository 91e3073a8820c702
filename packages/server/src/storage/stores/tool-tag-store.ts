import { type Database, preparedQuery } from '../transaction.ts';

/** One version of the tags that a tenant has corrected. */
export interface StoredToolTags {
  /** Number of the version; grows with every change. 0 before the first. */
  readonly version: number;
  /** Tags by tool name, as JSON. */
  readonly tags: string;
}

const newestVersion = preparedQuery((db, tenantId: number) => newest(db, tenantId).select('version'));

/** Returns the newest version of a tenant's tags, or `null` if it has corrected none. */
export async function newestToolTagsVersion(db: Database, tenantId: number): Promise<number | null> {
  const [row] = await newestVersion(db, tenantId);
  return row?.version ?? null;
}

/** Returns the newest tags of a tenant, or `undefined` if it has corrected none. */
export function newestToolTags(db: Database, tenantId: number): Promise<StoredToolTags | undefined> {
  return newest(db, tenantId).select(['version', 'tags']).executeTakeFirst();
}

function newest(db: Database, tenantId: number) {
  return db.selectFrom('tool_tag_sets').where('tenant_id', '=', tenantId).orderBy('version', 'desc').limit(1);
}

/** Returns the tags of a version, as JSON. @throws Error when there is no such version. */
export async function toolTagsOf(db: Database, tenantId: number, version: number): Promise<string> {
  const { tags } = await db
    .selectFrom('tool_tag_sets')
    .select('tags')
    .where('tenant_id', '=', tenantId)
    .where('version', '=', version)
    .executeTakeFirstOrThrow();
  return tags;
}

/** Adds a version of a tenant's tags. */
export async function insertToolTags(
  db: Database,
  tenantId: number,
  { version, tags }: StoredToolTags,
): Promise<void> {
  await db
    .insertInto('tool_tag_sets')
    .values({ tenant_id: tenantId, version, tags, created_ms: Date.now() })
    .execute();
}
