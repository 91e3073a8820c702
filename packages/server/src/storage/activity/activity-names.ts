import { keepNewest } from '../../lib/keep-newest.ts';
import type { Database } from '../transaction.ts';
import { type ActivityRowChange, addCounts } from './activity-change.ts';
import type { ActivityTable } from './activity-schema.ts';

/** Maximum agents and maximum tools with counts of their own in a bucket. Further ones are counted together. */
export const maxActivityNames = 40;

/** Maximum buckets whose names are cached. A dropped one is read again. */
const maxCachedBuckets = 256;

/** Names of the agents and tools of a bucket. */
interface BucketNames {
  readonly agent: Set<string>;
  readonly tool: Set<string>;
}

type Bucket = Pick<ActivityTable, 'span' | 'bucket_ms'>;

/**
 * Limit of the names in a bucket, so that a caller who makes up names cannot grow the table. It keeps the names of
 * recent buckets, so that most transactions read none; a name of a rolled-back transaction only takes its place.
 */
export class ActivityNames {
  readonly #cached = new Map<string, BucketNames>();

  /** Returns the changes of rows, with those of names beyond the limit under the empty name. */
  async limit(
    db: Database,
    tenantId: number,
    slot: number,
    rows: readonly ActivityRowChange[],
  ): Promise<ActivityRowChange[]> {
    const limited: ActivityRowChange[] = [];
    const others = new Map<string, ActivityRowChange>();
    for (const row of rows) {
      if (row.kind === 'all' || (await this.#admits(db, tenantId, slot, row, row.kind))) {
        limited.push(row);
        continue;
      }
      const key = `${row.span} ${row.kind} ${row.bucket_ms}`;
      const other = others.get(key);
      if (other) addCounts(other.counts, row.counts);
      else others.set(key, { ...row, name: '', counts: { ...row.counts } });
    }
    return others.size === 0 ? limited : [...others.values(), ...limited];
  }

  async #admits(
    db: Database,
    tenantId: number,
    slot: number,
    { span, bucket_ms, name }: ActivityRowChange,
    kind: keyof BucketNames,
  ): Promise<boolean> {
    const names = (await this.#namesOf(db, tenantId, slot, { span, bucket_ms }))[kind];
    if (names.has(name)) return true;
    if (names.size >= maxActivityNames) return false;
    names.add(name);
    return true;
  }

  async #namesOf(db: Database, tenantId: number, slot: number, bucket: Bucket): Promise<BucketNames> {
    const key = `${tenantId} ${slot} ${bucket.span} ${bucket.bucket_ms}`;
    const cached = this.#cached.get(key);
    if (cached) return cached;
    const names: BucketNames = { agent: new Set(), tool: new Set() };
    const rows = await db
      .selectFrom('activity')
      .select(['kind', 'name'])
      .where('tenant_id', '=', tenantId)
      .where('span', '=', bucket.span)
      .where('kind', 'in', ['agent', 'tool'])
      .where('bucket_ms', '=', bucket.bucket_ms)
      .where('slot', '=', slot)
      .where('name', '<>', '')
      .execute();
    for (const { kind, name } of rows) if (kind !== 'all') names[kind].add(name);
    keepNewest(this.#cached, key, names, maxCachedBuckets);
    return names;
  }
}
