/** Maximum number of calls remembered. */
const maxCalls = 1000;

/** A tool call that an instrumentation has reported by a span. */
export interface SeenCall {
  readonly traceId: string;
  /** Instrumentation that created the span. */
  readonly scope: string;
  readonly toolName: string;
  readonly callId?: string | undefined;
}

/** Calls by emitter, because two emitters that instrument the same agent report each call twice. */
export class EmittedCalls {
  /** First emitter of a call, by its trace, id and name. */
  readonly #emitters = new Map<string, string>();

  /**
   * Returns `true` if another emitter has reported the same call, or will, because its span is around this one.
   *
   * @param around - calls of the enclosing spans
   */
  isReportedByAnother(call: SeenCall, around: Iterable<Pick<SeenCall, 'scope' | 'toolName'>>): boolean {
    for (const { scope, toolName } of around) {
      if (scope !== call.scope && toolName === call.toolName) return true;
    }
    return this.#first(call) !== call.scope;
  }

  /** Returns the first emitter of this call. */
  #first({ traceId, scope, callId, toolName }: SeenCall): string {
    if (callId === undefined) return scope;
    const key = `${traceId} ${callId} ${toolName}`;
    const known = this.#emitters.get(key);
    if (known !== undefined) return known;
    this.#emitters.set(key, scope);
    const [oldest] = this.#emitters.keys();
    if (this.#emitters.size > maxCalls && oldest !== undefined) this.#emitters.delete(oldest);
    return scope;
  }
}
