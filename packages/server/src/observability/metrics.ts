import { Counter, collectDefaultMetrics, Gauge, Histogram, Registry } from 'prom-client';
import { RequestDurations } from './request-durations.ts';

/** Metrics of one server. None are global, so that two servers can run in one process. */
export class Metrics {
  readonly registry: Registry = new Registry();
  readonly #requests = new RequestDurations(this.registry);
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
    help: 'Log lines dropped because standard output did not accept them.',
    registers: [this.registry],
  });
  readonly #refusals = new Counter({
    name: 'actlog_quota_refusals_total',
    help: 'Requests refused because of a quota, by the name of the quota.',
    labelNames: ['quota'],
    registers: [this.registry],
  });

  /** @param queued - returns the number of events that wait to be stored */
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

  /** Counts a request with its duration in milliseconds. */
  request(method: string, route: string, status: number, durationMs: number): void {
    this.#requests.observe(method, route, status, durationMs);
  }

  /** Counts a request that exceeded a quota. */
  quotaRefusal(quota: string): void {
    this.#refusals.inc({ quota });
  }

  /** Counts a dropped log line. */
  logLineDropped(): void {
    this.#droppedLogLines.inc();
  }

  /** Counts a committed group: its size, and the number of new events. */
  group(size: number, stored: number): void {
    this.#groups.observe(size);
    this.#events.inc(stored);
  }
}
