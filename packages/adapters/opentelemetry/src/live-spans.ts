import type { ReadableSpan } from '@opentelemetry/sdk-trace-base';
import { parentIdOf } from './span-origin.ts';

/** How many spans are kept: some are never ended. */
const maxSpans = 10_000;
const maxDepth = 100;

/** A span that has begun and not ended. */
interface LiveSpan {
  readonly span: ReadableSpan;
  /** The spans that it began in, innermost first. They may end before it does. */
  readonly around: readonly ReadableSpan[];
}

/** The spans that have begun and not ended, and those around them: what surrounds a tool call is written on them. */
export class LiveSpans {
  readonly #spans = new Map<string, LiveSpan>();

  begin(span: ReadableSpan): void {
    const outer = this.#spans.get(parentIdOf(span) ?? '');
    const around = outer ? [outer.span, ...outer.around].slice(0, maxDepth) : [];
    this.#spans.set(span.spanContext().spanId, { span, around });
    const [oldest] = this.#spans.keys();
    if (this.#spans.size > maxSpans && oldest !== undefined) this.#spans.delete(oldest);
  }

  /** The spans around a span that has ended, innermost first. */
  end(span: ReadableSpan): readonly ReadableSpan[] {
    const { spanId } = span.spanContext();
    const around = this.#spans.get(spanId)?.around ?? [];
    this.#spans.delete(spanId);
    return around;
  }
}
