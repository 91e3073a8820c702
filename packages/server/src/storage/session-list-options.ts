/** Which sessions a list shows, and from where. */
export interface SessionListOptions {
  readonly tenantId: number;
  /** Only sessions in which this agent acted. */
  readonly agentId?: string | undefined;
  readonly startedAfterMs?: number | undefined;
  readonly startedBeforeMs?: number | undefined;
  readonly minRiskScore?: number | undefined;
  /** Start behind this session. */
  readonly after?: { readonly startedMs: number; readonly id: string } | undefined;
  readonly limit: number;
}
