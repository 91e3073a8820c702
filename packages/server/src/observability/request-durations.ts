import type { Histogram, Registry } from 'prom-client';

const name = 'actlog_http_request_duration_seconds';

/** Upper limits of the buckets, in seconds. */
const bounds = [0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 5, 30] as const;

/** Counts of requests with the same labels. */
interface Series {
  readonly labels: { readonly method: string; readonly route: string; readonly status: string };
  /** Requests by bucket; the last is for those beyond all limits. */
  readonly counts: number[];
  sumSeconds: number;
}

/**
 * Histogram for prom-client's registry with its own counting. prom-client validates and sorts labels on each
 * observation, which would cost more than all other instrumentation of a request.
 */
export class RequestDurations {
  readonly #series = new Map<string, Series>();

  constructor(registry: Registry) {
    const get = async () => ({
      name,
      help: 'Duration of requests by method, route and status.',
      type: 'histogram',
      aggregator: 'sum',
      values: [...this.#series.values()].flatMap(valuesOf),
    });
    // The registry reads only these two members of a metric.
    registry.registerMetric({ name, get } as unknown as Histogram);
  }

  /** Counts a request with its duration in milliseconds. */
  observe(method: string, route: string, status: number, durationMs: number): void {
    const key = `${method} ${route} ${status}`;
    let series = this.#series.get(key);
    if (!series) {
      const labels = { method, route, status: String(status) };
      series = { labels, counts: new Array(bounds.length + 1).fill(0), sumSeconds: 0 };
      this.#series.set(key, series);
    }
    const seconds = durationMs / 1000;
    let bucket = 0;
    while (bucket < bounds.length && seconds > (bounds[bucket] as number)) bucket += 1;
    series.counts[bucket] = (series.counts[bucket] as number) + 1;
    series.sumSeconds += seconds;
  }
}

/** Returns the lines of a series; each bucket includes the counts of those before it. */
function valuesOf({ labels, counts, sumSeconds }: Series) {
  let total = 0;
  const buckets = counts.map((count, index) => {
    total += count;
    return { labels: { le: bounds[index] ?? '+Inf', ...labels }, value: total, metricName: `${name}_bucket` };
  });
  return [
    ...buckets,
    { labels, value: sumSeconds, metricName: `${name}_sum` },
    { labels, value: total, metricName: `${name}_count` },
  ];
}
