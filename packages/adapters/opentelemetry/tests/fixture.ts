import { readFileSync } from 'node:fs';
import { type Attributes, ROOT_CONTEXT, type Span, type SpanStatus, trace } from '@opentelemetry/api';
import type { BasicTracerProvider } from '@opentelemetry/sdk-trace-base';

/** A span created by an emitter. */
interface FixtureSpan {
  readonly name: string;
  /** Name of the span while inner spans ended, if different. */
  readonly nameAtStart?: string;
  readonly scope: string;
  /** Index of the parent span. */
  readonly parent?: number;
  /** Attributes set before the first inner span ended. */
  readonly attributesAtStart?: Attributes;
  /** Attributes set after that. */
  readonly attributes?: Attributes;
  readonly status?: SpanStatus;
  readonly events?: readonly { readonly name: string; readonly attributes: Attributes }[];
}

/**
 * Spans of one agent run, captured from the real emitter: it calls `search` with `{ query: 'lamp' }`, which returns
 * `found`, and `broken` with `{}`, which throws; in session `s-1`, as agent `support`, if the emitter reports them.
 */
export interface Fixture {
  readonly emitter: string;
  /** Spans in the order of their start. */
  readonly spans: readonly FixtureSpan[];
  /** Indexes of the spans in the order of their end. */
  readonly ended: readonly number[];
}

/** Reads the fixture of an emitter. */
export function fixture(name: string): Fixture {
  return JSON.parse(readFileSync(new URL(`fixtures/${name}.json`, import.meta.url), 'utf8'));
}

/** Emits the spans of a fixture again. */
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
