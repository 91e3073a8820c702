import type { SessionPlace } from './session-place.ts';

/** Filters, order and position of a list of sessions. */
export interface SessionListOptions {
  readonly tenantId: number;
  /** Default: `startedAt`, newest first. `riskScore` is highest first, then newest. */
  readonly sort?: 'startedAt' | 'riskScore' | undefined;
  /** Only sessions in which this agent acted. */
  readonly agentId?: string | undefined;
  /** Only sessions in which an agent acted whose id contains this text. */
  readonly agentIdContains?: string | undefined;
  /** Only sessions whose id contains this text. */
  readonly idContains?: string | undefined;
  /** Only sessions in which this tool was called. */
  readonly toolName?: string | undefined;
  /** Only sessions of this level. */
  readonly level?: 'low' | 'medium' | 'high' | 'critical' | undefined;
  /** Only sessions with a failed call, a denied action or a held action. */
  readonly status?: 'errors' | 'denied' | 'held' | undefined;
  readonly startedAfterMs?: number | undefined;
  readonly startedBeforeMs?: number | undefined;
  readonly minRiskScore?: number | undefined;
  /** Place after which the list starts. */
  readonly after?: SessionPlace | undefined;
  readonly limit: number;
}
