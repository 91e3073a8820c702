/** Filters and position of a list of sessions. */
export interface SessionListOptions {
  readonly tenantId: number;
  /** Only sessions in which this agent acted. */
  readonly agentId?: string | undefined;
  readonly startedAfterMs?: number | undefined;
  readonly startedBeforeMs?: number | undefined;
  readonly minRiskScore?: number | undefined;
  /** Session after which the list starts. */
  readonly after?: { readonly startedMs: number; readonly id: string } | undefined;
  readonly limit: number;
}
