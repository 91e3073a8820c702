import type { AnyExportedSpan } from '@mastra/core/observability';
import { type TracedPlace, tracedPlace } from './traced-place.ts';

/** Spans that may be under way, at most: one whose end is not told is forgotten in time. */
const maxOpen = 10_000;

/** What is kept of a span while others may begin in it. */
interface OpenSpan extends TracedPlace {
  readonly parentSpanId: string | undefined;
}

/** The spans that are under way: a tool's own does not tell which agent called it, nor who delegated to that one. */
export class OpenSpans {
  readonly #open = new Map<string, OpenSpan>();

  start(span: AnyExportedSpan): void {
    this.#open.set(span.id, { ...tracedPlace(span), parentSpanId: span.parentSpanId });
    if (this.#open.size > maxOpen) this.#open.delete(this.#open.keys().next().value as string);
  }

  end({ id }: AnyExportedSpan): void {
    this.#open.delete(id);
  }

  /** A span and those that it is within, from the innermost on. */
  *around(span: AnyExportedSpan): Generator<TracedPlace> {
    yield tracedPlace(span);
    let { parentSpanId } = span;
    // What came from elsewhere is not trusted to end.
    for (let depth = 0; parentSpanId !== undefined && depth < maxOpen; depth += 1) {
      const parent = this.#open.get(parentSpanId);
      if (!parent) return;
      yield parent;
      parentSpanId = parent.parentSpanId;
    }
  }
}
