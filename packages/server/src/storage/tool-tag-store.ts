import { preparedQuery } from './prepared-query.ts';
import type { Database } from './transaction.ts';

/** The tags that a tenant has corrected, as they were at one time. */
export interface StoredToolTags {
  /** Grows with every change of the tenant's; 0 before the first. */
  readonly version: number;
  /** Tags by tool name, as JSON. */
  readonly tags: string;
}

const newestVersion = preparedQuery((db, tenantId: number) => newest(db, tenantId).select('version'));

/** The newest version of a tenant's tags, or null when it has corrected none. */
export async function newestToolTagsVersion(db: Database, tenantId: number): Promise<number | null> {
  const [row] = await newestVersion(db, tenantId);
  return row?.version ?? null;
}

/** The newest tags of a tenant, or undefined. */
export function newestToolTags(db: Database, tenantId: number): Promise<StoredToolTags | undefined> {
  return newest(db, tenantId).select(['version', 'tags']).executeTakeFirst();
}

function newest(db: Database, tenantId: number) {
  return db.selectFrom('tool_tag_sets').where('tenant_id', '=', tenantId).orderBy('version', 'desc').limit(1);
}

/** The tags of a version, as JSON. @throws Error when there is no such version. */
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
