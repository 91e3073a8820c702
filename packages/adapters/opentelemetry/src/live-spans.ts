import type { ReadableSpan } from '@opentelemetry/sdk-trace-base';

/** How many spans are kept: some are never ended. */
const maxSpans = 10_000;
const maxDepth = 100;

/** The spans that have begun and not ended: what surrounds a tool call is written on them. */
export class LiveSpans {
  readonly #spans = new Map<string, ReadableSpan>();

  begin(span: ReadableSpan): void {
    this.#spans.set(span.spanContext().spanId, span);
    const [oldest] = this.#spans.keys();
    if (this.#spans.size > maxSpans && oldest !== undefined) this.#spans.delete(oldest);
  }

  end(span: ReadableSpan): void {
    this.#spans.delete(span.spanContext().spanId);
  }

  /** The spans around a span, innermost first. */
  around(span: ReadableSpan): readonly ReadableSpan[] {
    const around: ReadableSpan[] = [];
    let outer = this.#outer(span);
    while (outer && around.length < maxDepth) {
      around.push(outer);
      outer = this.#outer(outer);
    }
    return around;
  }

  #outer({ parentSpanContext }: ReadableSpan): ReadableSpan | undefined {
    return parentSpanContext && this.#spans.get(parentSpanContext.spanId);
  }
}
