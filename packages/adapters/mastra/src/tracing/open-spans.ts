import type { AnyExportedSpan } from '@mastra/core/observability';
import { type SpanLocation, spanLocation } from './span-location.ts';

/** Maximum number of running spans; one whose end is not reported is eventually forgotten. */
const maxOpen = 10_000;

/** Data of a span that others may start in. */
interface OpenSpan extends SpanLocation {
  readonly parentSpanId: string | undefined;
  /** Messages or the text that an agent run was started with. */
  readonly conversation?: unknown;
}

/**
 * Tracks running spans, because a tool's span does not name the agent that called it, or the one that delegated to that
 * agent.
 */
export class OpenSpans {
  readonly #open = new Map<string, OpenSpan>();

  start(span: AnyExportedSpan): void {
    const { id, parentSpanId } = span;
    this.#open.set(id, { ...spanLocation(span), parentSpanId, conversation: conversationOf(span) });
    if (this.#open.size > maxOpen) this.#open.delete(this.#open.keys().next().value as string);
  }

  end({ id }: AnyExportedSpan): void {
    this.#open.delete(id);
  }

  /** Yields a span and its ancestors, starting with the innermost. */
  *around(span: AnyExportedSpan): Generator<SpanLocation & Pick<OpenSpan, 'conversation'>> {
    yield { ...spanLocation(span), conversation: conversationOf(span) };
    let { parentSpanId } = span;
    // Ancestors from outside might be cyclic.
    for (let depth = 0; parentSpanId !== undefined && depth < maxOpen; depth += 1) {
      const parent = this.#open.get(parentSpanId);
      if (!parent) return;
      yield parent;
      parentSpanId = parent.parentSpanId;
    }
  }
}

/** Returns what an agent run was started with, as messages or a text; undefined for other spans. */
export function conversationOf({ type, input }: AnyExportedSpan): unknown {
  if (type !== 'agent_run') return undefined;
  return (input as { readonly messages?: unknown } | null | undefined)?.messages ?? input;
}
