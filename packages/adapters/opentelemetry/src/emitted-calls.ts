import type { ReadableSpan } from '@opentelemetry/sdk-trace-base';
import type { ToolSpan } from './dialect.ts';
import { emitterOf } from './span-origin.ts';
import { toolSpanOf } from './tool-span.ts';

/** How many calls are remembered. */
const maxCalls = 1000;

/** The calls that emitters told of: two that instrument the same agent tell of each call twice. */
export class EmittedCalls {
  /** Who told of a call, by its trace, id and name. */
  readonly #emitters = new Map<string, string>();

  /** Whether another emitter tells of the same call: it has, or its span is around this one and will. */
  isToldByAnother(span: ReadableSpan, tool: ToolSpan, around: readonly ReadableSpan[]): boolean {
    const emitter = emitterOf(span);
    const isWithin = around.some(
      (outer) => emitterOf(outer) !== emitter && toolSpanOf(outer)?.toolName === tool.toolName,
    );
    return isWithin || this.#first(span, tool, emitter) !== emitter;
  }

  /** The first emitter that told of this call. */
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
