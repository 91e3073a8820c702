/** Reasons for which spans of tools are not, or not wholly, understood, as clauses. */
export const unreadReasons = {
  trace_id: 'traceId must be 16 bytes, not all zero',
  span_id: 'spanId must be 8 bytes, not all zero',
  end_time: 'endTimeUnixNano must be a time in nanoseconds',
  format: 'they have the attributes of no known format',
  arguments: 'they have arguments in no known form, such as JSON',
  arguments_too_long: 'they have arguments of more than 256 KiB',
  arguments_too_deep: 'they have arguments nested deeper than 100 levels',
} as const;

export type UnreadReason = keyof typeof unreadReasons;

/** Reasons for which the event lacks only the hash of the arguments. */
export const recordedReasons: ReadonlySet<UnreadReason> = new Set([
  'arguments',
  'arguments_too_long',
  'arguments_too_deep',
] as const);

/** Number of spans of an instrumentation that are not understood, for one reason. */
export interface UnreadSpans {
  readonly scope: string;
  readonly reason: UnreadReason;
  readonly count: number;
}

/** Maximum number of scopes that are told apart, because a sender can name any; the others are `other`. */
const maxScopes = 100;
const maxScopeLength = 100;
/** Maximum number of tenants that are remembered. */
const maxTenants = 1000;

/** Spans that are not understood, by scope and reason. */
export class UnreadCounts {
  readonly #counts = new Map<string, Map<UnreadReason, number>>();

  add(scope: string, reason: UnreadReason, count = 1): void {
    // Control characters would break the line of a log or a terminal.
    const name = scope.replace(/[\p{Cc}\p{Cs}]/gu, '\u{fffd}').slice(0, maxScopeLength) || 'unnamed';
    const known = this.#counts.has(name) || this.#counts.size < maxScopes ? name : 'other';
    const ofScope = this.#counts.get(known) ?? new Map<UnreadReason, number>();
    ofScope.set(reason, (ofScope.get(reason) ?? 0) + count);
    this.#counts.set(known, ofScope);
  }

  /** Returns the counts in the order of their first span. */
  list(): UnreadSpans[] {
    return [...this.#counts].flatMap(([scope, reasons]) =>
      [...reasons].map(([reason, count]) => ({ scope, reason, count })),
    );
  }
}

/** Spans of each tenant that were not understood since the server started, for `actlog doctor`. */
export class UnreadSpansOfTenants {
  readonly #tenants = new Map<number, UnreadCounts>();

  /** Adds the counts of a request. */
  add(tenantId: number, spans: readonly UnreadSpans[]): void {
    if (spans.length === 0) return;
    const counts = this.#tenants.get(tenantId) ?? new UnreadCounts();
    for (const { scope, reason, count } of spans) counts.add(scope, reason, count);
    this.#tenants.delete(tenantId);
    this.#tenants.set(tenantId, counts);
    const [oldest] = this.#tenants.keys();
    if (this.#tenants.size > maxTenants && oldest !== undefined) this.#tenants.delete(oldest);
  }

  list(tenantId: number): UnreadSpans[] {
    return this.#tenants.get(tenantId)?.list() ?? [];
  }
}
