import type { ReadableSpan } from '@opentelemetry/sdk-trace-base';
import type { ToolSpan } from './dialect.ts';
import { emitterOf } from './span-origin.ts';
import { toolSpanOf } from './tool-span.ts';

/** Maximum number of calls remembered. */
const maxCalls = 1000;

/** Calls by emitter, because two emitters that instrument the same agent report each call twice. */
export class EmittedCalls {
  /** First emitter of a call, by its trace, id and name. */
  readonly #emitters = new Map<string, string>();

  /** Returns `true` if another emitter has reported the same call, or will, because its span is around this one. */
  isReportedByAnother(span: ReadableSpan, tool: ToolSpan, around: readonly ReadableSpan[]): boolean {
    const emitter = emitterOf(span);
    const isWithin = around.some(
      (outer) => emitterOf(outer) !== emitter && toolSpanOf(outer)?.toolName === tool.toolName,
    );
    return isWithin || this.#first(span, tool, emitter) !== emitter;
  }

  /** Returns the first emitter of this call. */
  #first(span: ReadableSpan, { callId, toolName }: ToolSpan, emitter: string): string {
    if (callId === undefined) return emitter;
    const key = `${span.spanContext().traceId} ${callId} ${toolName}`;
    const known = this.#emitters.get(key);
    if (known !== undefined) return known;
    this.#emitters.set(key, emitter);
    const [oldest] = this.#emitters.keys();
    if (this.#emitters.size > maxCalls && oldest !== undefined) this.#emitters.delete(oldest);
    return emitter;
  }
}
