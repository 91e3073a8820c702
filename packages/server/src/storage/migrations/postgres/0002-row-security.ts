import { sql } from 'kysely';
import type { Migration } from '../../migrate.ts';
import type { CrossTenantWork } from '../../storage.ts';

/** Tables whose rows belong to a tenant. Those of one tenant are seen once `actlog.tenant_id` names it. */
const tenantTables = [
  'api_keys',
  'rate_limits',
  'idempotency_keys',
  'agents',
  'sessions',
  'session_agents',
  'events',
  'event_ids',
  'policies',
  'policy_counts',
  'checked_actions',
  'pending_actions',
  'notification_channels',
  'deliveries',
  'session_risk',
  'agent_baselines',
  'tenant_risk',
];

type Command = 'all' | 'select' | 'update' | 'delete';

/** What each kind of work across tenants may do beside: nothing that is not written here. */
const crossTenant: readonly (readonly [CrossTenantWork, Command, readonly string[]])[] = [
  ['authenticate', 'select', ['api_keys']],
  ['administer', 'all', ['tenants', 'api_keys']],
  [
    'sweep',
    'select',
    [
      'tenants',
      'sessions',
      'pending_actions',
      'deliveries',
      'idempotency_keys',
      'policy_counts',
      'checked_actions',
    ],
  ],
  ['sweep', 'update', ['deliveries']],
  ['sweep', 'delete', ['deliveries', 'idempotency_keys', 'policy_counts', 'checked_actions']],
  ['partition', 'all', ['events']],
];

// Within a query, so that a setting is read once for a statement and not once for a row.
const tenant = "(select nullif(current_setting('actlog.tenant_id', true), '')::bigint)";
const work = "(select current_setting('actlog.work', true))";

function statements(): string[] {
  const guarded = [...tenantTables, 'tenants', 'events_default'];
  return [
    ...guarded.flatMap((table) => [
      `alter table ${table} enable row level security`,
      // The owner of the tables is bound too; only a superuser and a role with BYPASSRLS are not.
      `alter table ${table} force row level security`,
    ]),
    ...tenantTables.map((table) => `create policy own_tenant on ${table} using (tenant_id = ${tenant})`),
    `create policy own_tenant on tenants using (id = ${tenant})`,
    ...crossTenant.flatMap(([kind, command, names]) =>
      names.map(
        (table) => `create policy ${kind}_${command} on ${table} for ${command} using (${work} = '${kind}')`,
      ),
    ),
  ];
}

/**
 * Row-level security: a transaction sees the rows of the tenant that it was opened for, even where a query forgets
 * to ask for them only, and no row when it was opened for none.
 */
export const rowSecurity: Migration = {
  name: '0002-row-security',
  async up(db) {
    await sql.raw(statements().join(';\n')).execute(db);
  },
};
