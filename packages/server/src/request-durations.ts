import type { Histogram, Registry } from 'prom-client';

const name = 'actlog_http_request_duration_seconds';

/** Upper bounds of the buckets, in seconds. */
const bounds = [0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 5, 30] as const;

/** What was counted of requests with the same labels. */
interface Series {
  readonly labels: { readonly method: string; readonly route: string; readonly status: string };
  /** Requests by the first bound that is no less, and behind them those beyond all. */
  readonly counts: number[];
  sumSeconds: number;
}

/**
 * A histogram of prom-client's registry that counts by itself: prom-client checks and sorts the labels of each
 * observation anew, which would cost every request more than all else that is done to tell of it.
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
    // The registry asks its metrics for no more than these two.
    registry.registerMetric({ name, get } as unknown as Histogram);
  }

  /** Counts a request; `durationMs` in milliseconds. */
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

/** The lines of a series: each bucket counts what the ones before it do. */
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
