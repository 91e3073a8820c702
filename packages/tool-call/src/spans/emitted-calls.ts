import type { ToolSpan } from './dialect.ts';
import { type GenAiSpan, scopeOf, textOf } from './genai-span.ts';

/** Maximum number of calls remembered. */
const maxCalls = 1000;

/** A tool call that an instrumentation has reported by a span. */
export interface SeenCall {
  readonly traceId: string;
  /** Instrumentation that created the span. */
  readonly scope: string;
  readonly toolName: string;
  readonly callId?: string | undefined;
  /** `true` if the span is a request in the Model Context Protocol. */
  readonly isMcp: boolean;
}

/** An enclosing span: the call of a tool's span, or `agent` for the span of an agent. */
export type Enclosing = Pick<SeenCall, 'scope' | 'toolName'> | 'agent';

/** Returns the meaning of a span for the spans inside it; undefined for one that is neither of a tool nor of an agent. */
export function enclosingOf(span: GenAiSpan, tool: ToolSpan | undefined): Enclosing | undefined {
  if (tool) return { scope: scopeOf(span), toolName: tool.toolName };
  const { attributes } = span;
  const kind = textOf(attributes, 'openinference.span.kind', 'traceloop.span.kind');
  return attributes['gen_ai.operation.name'] === 'invoke_agent' || kind?.toLowerCase() === 'agent'
    ? 'agent'
    : undefined;
}

/** Returns `true` if a span is a request in the Model Context Protocol. */
export function isMcpSpan(span: GenAiSpan): boolean {
  return span.attributes['mcp.method.name'] !== undefined || /(?:^|[./_-])(?:fast)?mcp$/i.test(scopeOf(span));
}

/** Calls by emitter, because two emitters that instrument the same agent report each call twice. */
export class EmittedCalls {
  /** First emitter of a call, by its trace, id and name. */
  readonly #emitters = new Map<string, string>();

  /**
   * Returns `true` if another emitter has reported the same call, or will, because its span is around this one. A
   * request of the Model Context Protocol inside a tool is the call of that tool, whatever the server calls it.
   *
   * @param around - enclosing spans, innermost first
   */
  isReportedByAnother(call: SeenCall, around: Iterable<Enclosing>): boolean {
    let isOfInnerAgent = false;
    for (const outer of around) {
      if (outer === 'agent') {
        isOfInnerAgent = true;
        continue;
      }
      if (call.isMcp && !isOfInnerAgent) return true;
      if (outer.scope !== call.scope && outer.toolName === call.toolName) return true;
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
