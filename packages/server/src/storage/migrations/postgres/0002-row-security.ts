import { sql } from 'kysely';
import type { Migration } from '../../migrate.ts';
import type { CrossTenantWork } from '../../storage.ts';

/** Tables whose rows belong to a tenant. They are visible once `actlog.tenant_id` names the tenant. */
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

/** Rights of each kind of cross-tenant work. Everything not listed is forbidden. */
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

// As a subquery, so that the setting is read once per statement and not once per row.
const tenant = "(select nullif(current_setting('actlog.tenant_id', true), '')::bigint)";
const work = "(select current_setting('actlog.work', true))";

function statements(): string[] {
  const guarded = [...tenantTables, 'tenants', 'events_default'];
  return [
    ...guarded.flatMap((table) => [
      `alter table ${table} enable row level security`,
      // `force` binds the owner of the tables too; only superusers and roles with BYPASSRLS are exempt.
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
 * Row-level security: a transaction sees only rows of its tenant, even if a query lacks the condition, and no rows if
 * it has no scope.
 */
export const rowSecurity: Migration = {
  name: '0002-row-security',
  async up(db) {
    await sql.raw(statements().join(';\n')).execute(db);
  },
};
