import type { ReadableSpan } from '@opentelemetry/sdk-trace-base';
import { parentIdOf } from './parent-id.ts';

/** Maximum number of spans kept, because some are never ended. */
const maxSpans = 10_000;
const maxDepth = 100;

/** A span that has started and not ended. */
interface LiveSpan {
  readonly span: ReadableSpan;
  /** Enclosing spans, innermost first. They may end earlier. */
  readonly around: readonly ReadableSpan[];
}

/** Running spans and their enclosing spans, whose attributes describe the context of a tool call. */
export class LiveSpans {
  readonly #spans = new Map<string, LiveSpan>();

  /** Adds a started span and returns its enclosing spans, innermost first. */
  begin(span: ReadableSpan): readonly ReadableSpan[] {
    const outer = this.#spans.get(parentIdOf(span) ?? '');
    const around = outer ? [outer.span, ...outer.around].slice(0, maxDepth) : [];
    this.#spans.set(span.spanContext().spanId, { span, around });
    const [oldest] = this.#spans.keys();
    if (this.#spans.size > maxSpans && oldest !== undefined) this.#spans.delete(oldest);
    return around;
  }

  /** Removes an ended span and returns its enclosing spans, innermost first. */
  end(span: ReadableSpan): readonly ReadableSpan[] {
    const { spanId } = span.spanContext();
    const around = this.#spans.get(spanId)?.around ?? [];
    this.#spans.delete(spanId);
    return around;
  }
}
