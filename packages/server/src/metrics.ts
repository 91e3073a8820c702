import { Counter, collectDefaultMetrics, Gauge, Histogram, Registry } from 'prom-client';

/** The numbers that `/metrics` shows, for one server: nothing is global, so that two can run in one process. */
export class Metrics {
  readonly registry: Registry = new Registry();
  readonly #requests = new Histogram({
    name: 'actlog_http_request_duration_seconds',
    help: 'Duration of requests by method, route and status.',
    labelNames: ['method', 'route', 'status'],
    buckets: [0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 5, 30],
    registers: [this.registry],
  });
  readonly #series = new Map<string, { observe(seconds: number): void }>();
  readonly #events = new Counter({
    name: 'actlog_events_stored_total',
    help: 'Events stored, repeats not counted.',
    registers: [this.registry],
  });
  readonly #groups = new Histogram({
    name: 'actlog_ingest_group_size',
    help: 'Events that shared one transaction.',
    buckets: [1, 2, 4, 8, 16, 32, 64, 128, 256, 512],
    registers: [this.registry],
  });
  readonly #droppedLogLines = new Counter({
    name: 'actlog_log_lines_dropped_total',
    help: 'Log lines that standard output did not take.',
    registers: [this.registry],
  });
  readonly #refusals = new Counter({
    name: 'actlog_quota_refusals_total',
    help: 'Requests that a quota of their tenant had no room for, by the name of the quota.',
    labelNames: ['quota'],
    registers: [this.registry],
  });

  /** `queued` tells how many events wait to be stored. */
  constructor(queued: () => number) {
    collectDefaultMetrics({ register: this.registry });
    new Gauge({
      name: 'actlog_ingest_queued_events',
      help: 'Events that wait to be stored.',
      registers: [this.registry],
      collect() {
        this.set(queued());
      },
    });
  }

  /** Counts a request; `durationMs` in milliseconds. */
  request(method: string, route: string, status: number, durationMs: number): void {
    const name = `${method} ${route} ${status}`;
    let series = this.#series.get(name);
    if (!series) {
      series = this.#requests.labels(method, route, String(status));
      this.#series.set(name, series);
    }
    series.observe(durationMs / 1000);
  }

  /** Counts a request that a quota had no room for. */
  quotaRefusal(quota: string): void {
    this.#refusals.inc({ quota });
  }

  /** Counts a line that the log lost. */
  logLineDropped(): void {
    this.#droppedLogLines.inc();
  }

  /** Counts a committed group: its size, and how many of its events were new. */
  group(size: number, stored: number): void {
    this.#groups.observe(size);
    this.#events.inc(stored);
  }
}
