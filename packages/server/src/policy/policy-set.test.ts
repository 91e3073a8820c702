import { checkedAction } from '@actlog/policy';
import { Kysely } from 'kysely';
import { expect, it } from 'vitest';
import { migrate } from '../storage/migrate.ts';
import { sqliteMigrations } from '../storage/migrations/sqlite.ts';
import { type StoredPolicy, savePolicy } from '../storage/policies/policy-store.ts';
import type { Tables } from '../storage/schema.ts';
import { SqliteConnection, sqliteDialect } from '../storage/sqlite/sqlite-connection.ts';
import { Matches } from './matching.ts';
import { PolicySets } from './policy-set.ts';

const tenantId = 1;

function policyWith(condition: string, updatedMs: number): StoredPolicy {
  return {
    id: 'pol_1',
    version: 1,
    status: 'active',
    created_ms: 0,
    updated_ms: updatedMs,
    archived_ms: null,
    definition: {
      name: 'limit',
      description: null,
      effect: 'deny',
      mode: 'enforce',
      priority: 0,
      match: {},
      condition,
      rate: null,
    } as unknown as StoredPolicy['definition'],
  };
}

it('reads a policy again when a restored database has another one with the same version', async () => {
  const connection = new SqliteConnection({ file: ':memory:', writes: true });
  const db = new Kysely<Tables>({ dialect: sqliteDialect(connection) });
  await db.transaction().execute((inner) => migrate(inner, sqliteMigrations, () => {}));
  await db
    .insertInto('tenants')
    .values({ id: tenantId, name: 'test', created_ms: 0, settings_version: 0 })
    .execute();
  const sets = new PolicySets();
  const action = checkedAction({
    agentId: 'a',
    action: { toolName: 'pay', argumentsHash: 'x', arguments: { amount: 50 } },
  });
  const fires = async (condition: string, updatedMs: number) => {
    await db.deleteFrom('policy_versions').where('tenant_id', '=', tenantId).execute();
    await savePolicy(db, tenantId, policyWith(condition, updatedMs));
    return new Matches().of(await sets.of(db, tenantId), action).fired.length === 1;
  };
  expect(await fires('args.amount > 100', 1)).toBe(false);
  expect(await fires('args.amount > 10', 2)).toBe(true);
  await db.destroy();
});
