import type { Actlog } from '@actlog/client';

/**
 * Returns a string that identifies the deployment and the tenant, for a folder of their own. May contain a secret.
 *
 * @param tenant - used instead of the key
 */
export function tenantSecret(client: Actlog, tenant: string | undefined): string {
  const { baseURL } = client;
  if (tenant) return `${baseURL}\ntenant ${tenant}`;
  return `${baseURL}\n${client.headers().authorization ?? ''}`;
}
