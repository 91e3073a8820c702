import { type Actlog, ActlogError } from '@actlog/client';
import type { Scope } from '@actlog/protocol';

/** Owner of the API key, as the reference server shows it. */
export interface KeyIdentity {
  readonly keyId: string;
  readonly name: string;
  readonly tenant: string;
  readonly scopes: readonly Scope[];
  /** Time from which the key is refused, ISO 8601; undefined for never, or where it is not shown. */
  readonly expiresAt: string | undefined;
  /** Version of the server. */
  readonly serverVersion: string | undefined;
}

/**
 * Returns the identity of the client's key; undefined if the deployment does not show it. The specification has no
 * endpoint for that, so this is the one of the reference server's console.
 */
export async function readKeyIdentity(client: Actlog): Promise<KeyIdentity | undefined> {
  let identity: Partial<Record<keyof KeyIdentity, unknown>> | undefined;
  try {
    identity = await client.request<typeof identity>('GET', '/console/api/identity');
  } catch (error) {
    if (error instanceof ActlogError) return undefined;
    throw error;
  }
  // A deployment that returns a page for every unknown path also returns one here.
  if (typeof identity !== 'object' || !Array.isArray(identity?.scopes)) return undefined;
  const { keyId, name, tenant, scopes, expiresAt, serverVersion } = identity;
  return {
    keyId: String(keyId),
    name: String(name),
    tenant: String(tenant),
    scopes: scopes as readonly Scope[],
    expiresAt: textOr(expiresAt),
    serverVersion: textOr(serverVersion),
  };
}

function textOr(value: unknown): string | undefined {
  return typeof value === 'string' ? value : undefined;
}
