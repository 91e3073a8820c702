/** Returns the statements that limit the rows of a table to transactions of their tenant, as in `0002-row-security`. */
export function keepTenantsApart(table: string): string {
  return `
alter table ${table} enable row level security;
alter table ${table} force row level security;
create policy own_tenant on ${table}
  using (tenant_id = (select nullif(current_setting('actlog.tenant_id', true), '')::bigint));
`;
}
