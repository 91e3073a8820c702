import { Counter, collectDefaultMetrics, Gauge, Histogram, Registry } from 'prom-client';
import { RequestDurations } from './request-durations.ts';

/** The numbers that `/metrics` shows, for one server: nothing is global, so that two can run in one process. */
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
    this.#requests.observe(method, route, status, durationMs);
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
