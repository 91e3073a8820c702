import { type Actlog, ActlogError } from '@actlog/client';

/** Use of a quota of the tenant; `max` is `null` for no limit. */
export interface QuotaUse {
  readonly used: number;
  readonly max: number | null;
}

/** Number of spans of an instrumentation that were not understood, for one reason. */
export interface UnreadSpans {
  readonly scope: string;
  readonly reason: string;
  readonly count: number;
}

/** Limits of the tenant, as the reference server shows them. */
export interface TenantLimits {
  /** Days for which sessions are kept; `null` for no limit. */
  readonly retentionDays: number | null;
  readonly quotas: Readonly<Record<string, QuotaUse>>;
  /** Spans that were not understood since the server started; undefined where it does not count them. */
  readonly unreadSpans: readonly UnreadSpans[] | undefined;
}

/** Returns the limits of the client's tenant; undefined if the deployment does not show them to its key. */
export async function readTenantLimits(client: Actlog): Promise<TenantLimits | undefined> {
  try {
    const limits = await client.request<Partial<TenantLimits> | undefined>('GET', '/console/api/limits');
    // A deployment that returns a page for every unknown path also returns one here.
    const { retentionDays = null, quotas, unreadSpans } = typeof limits === 'object' ? limits : {};
    return typeof quotas === 'object' ? { retentionDays, quotas, unreadSpans } : undefined;
  } catch (error) {
    if (error instanceof ActlogError) return undefined;
    throw error;
  }
}
