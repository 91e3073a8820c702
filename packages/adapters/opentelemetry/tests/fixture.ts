import { readFileSync } from 'node:fs';
import { type Attributes, ROOT_CONTEXT, type Span, type SpanStatus, trace } from '@opentelemetry/api';
import type { BasicTracerProvider } from '@opentelemetry/sdk-trace-base';

/** A span as an emitter made it. */
interface FixtureSpan {
  readonly name: string;
  /** What it was called while the spans within it ended, where that is another name. */
  readonly nameAtStart?: string;
  readonly scope: string;
  /** Place of the span around it. */
  readonly parent?: number;
  /** What was on it by the time that the first span within it ended. */
  readonly attributesAtStart?: Attributes;
  /** What was put on it after that. */
  readonly attributes?: Attributes;
  readonly status?: SpanStatus;
  readonly events?: readonly { readonly name: string; readonly attributes: Attributes }[];
}

/**
 * The spans of one run of an agent, taken from the real emitter: it calls `search` with `{ query: 'lamp' }`, which
 * answers `found`, and `broken` with `{}`, which throws; in session `s-1`, as agent `support`, where the emitter tells.
 */
export interface Fixture {
  readonly emitter: string;
  /** In the order in which they began. */
  readonly spans: readonly FixtureSpan[];
  /** Places of the spans, in the order in which they ended. */
  readonly ended: readonly number[];
}

/** Reads the spans of an emitter. */
export function fixture(name: string): Fixture {
  return JSON.parse(readFileSync(new URL(`fixtures/${name}.json`, import.meta.url), 'utf8'));
}

/** Emits the spans of a fixture once more. */
export function replay({ spans, ended }: Fixture, provider: BasicTracerProvider): void {
  const begun: Span[] = [];
  for (const { name, nameAtStart, scope, parent, attributesAtStart } of spans) {
    const outer = parent === undefined ? undefined : begun[parent];
    const within = outer ? trace.setSpan(ROOT_CONTEXT, outer) : ROOT_CONTEXT;
    const options = attributesAtStart ? { attributes: attributesAtStart } : {};
    begun.push(provider.getTracer(scope).startSpan(nameAtStart ?? name, options, within));
  }
  for (const place of ended) {
    const span = begun[place];
    const { name, attributes = {}, status, events = [] } = spans[place] ?? {};
    if (name) span?.updateName(name);
    span?.setAttributes(attributes);
    for (const event of events) span?.addEvent(event.name, event.attributes);
    if (status) span?.setStatus(status);
    span?.end();
  }
}
