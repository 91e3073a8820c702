import { Counter, collectDefaultMetrics, Gauge, Histogram, Registry } from 'prom-client';
import { riskLevels } from '../lib/risk-levels.ts';
import type { ReachedLevels } from '../storage/event-recording.ts';
import { UnreadCounts, type UnreadSpans } from './unread-spans.ts';

/** Outcomes of attempts to deliver a message to a webhook: `retrying` if there will be another attempt. */
export type DeliveryOutcome = 'delivered' | 'retrying' | 'failed';

/** Ends of held actions. */
export type HeldActionEnd = 'approved' | 'denied' | 'expired' | 'withdrawn';

/** Decision of a check. */
type Decision = 'allow' | 'deny' | 'require_approval';

const decisions: readonly Decision[] = ['allow', 'deny', 'require_approval'];
const deliveryOutcomes: readonly DeliveryOutcome[] = ['delivered', 'retrying', 'failed'];
const heldActionEnds: readonly HeldActionEnd[] = ['approved', 'denied', 'expired', 'withdrawn'];

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

  readonly #levels = new Counter({
    name: 'actlog_sessions_scored_total',
    help: 'Sessions that reached a risk level, by that level. A session can reach several.',
    labelNames: ['level'],
    registers: [this.registry],
  });
  readonly #decisions = new Counter({
    name: 'actlog_decisions_total',
    help: 'Checked actions by the decision, without dry runs; a held action counts once, as require_approval.',
    labelNames: ['decision'],
    registers: [this.registry],
  });
  readonly #heldActions = new Counter({
    name: 'actlog_held_actions_total',
    help: 'Actions that were held for approval.',
    registers: [this.registry],
  });
  readonly #endedActions = new Counter({
    name: 'actlog_held_actions_ended_total',
    help: 'Held actions that ended, by their status.',
    labelNames: ['status'],
    registers: [this.registry],
  });
  readonly #deliveries = new Counter({
    name: 'actlog_webhook_deliveries_total',
    help: 'Attempts to deliver a message to a webhook, by their outcome.',
    labelNames: ['outcome'],
    registers: [this.registry],
  });

  readonly #unreadSpans = new Counter({
    name: 'actlog_otlp_unread_spans_total',
    help: 'Spans of tools that were not, or not wholly, understood, by instrumentation and reason.',
    labelNames: ['scope', 'reason'],
    registers: [this.registry],
  });
  readonly #unreadCounts = new UnreadCounts();

  readonly #logEntries = new Counter({
    name: 'actlog_log_entries_total',
    help: 'Entries that this process appended to the logs of tenants.',
    registers: [this.registry],
  });

  readonly #logRefusals = new Counter({
    name: 'actlog_log_refused_total',
    help: 'Checkpoints that a witness refused, because the log does not continue what it has cosigned.',
    registers: [this.registry],
  });

  readonly #forwardLag = new Gauge({
    name: 'actlog_forward_lag_records',
    help: 'Entries of the logs that a forwarder has not sent yet, by its name.',
    labelNames: ['forward'],
    registers: [this.registry],
  });
  readonly #forwarded = new Counter({
    name: 'actlog_forward_records_total',
    help: 'Records that a destination acknowledged to this process.',
    labelNames: ['forward'],
    registers: [this.registry],
  });
  readonly #forwardSuccess = new Gauge({
    name: 'actlog_forward_last_success_timestamp_seconds',
    help: 'Time at which a destination last acknowledged records to this process.',
    labelNames: ['forward'],
    registers: [this.registry],
  });
  readonly #forwardFailures = new Counter({
    name: 'actlog_forward_failures_total',
    help: 'Batches that a destination did not acknowledge, by reason. They are sent again.',
    labelNames: ['forward', 'reason'],
    registers: [this.registry],
  });

  /**
   * @param queued - returns the number of events that wait to be stored
   * @param logLagMs - returns the milliseconds for which the oldest record waits for its entry in the log
   */
  constructor(queued: () => number, logLagMs: () => number = () => 0) {
    collectDefaultMetrics({ register: this.registry });
    // A counter that starts at its first value would hide the first increase from rate().
    for (const level of riskLevels) this.#levels.inc({ level }, 0);
    for (const decision of decisions) this.#decisions.inc({ decision }, 0);
    for (const status of heldActionEnds) this.#endedActions.inc({ status }, 0);
    for (const outcome of deliveryOutcomes) this.#deliveries.inc({ outcome }, 0);
    new Gauge({
      name: 'actlog_log_lag_seconds',
      help: 'Time for which the oldest record of this process waits for its entry in the log.',
      registers: [this.registry],
      collect() {
        this.set(logLagMs() / 1000);
      },
    });
    new Gauge({
      name: 'actlog_ingest_queued_events',
      help: 'Events that wait to be stored.',
      registers: [this.registry],
      collect() {
        this.set(queued());
      },
    });
  }

  /** Counts a checkpoint that a witness refused. */
  logRefused(): void {
    this.#logRefusals.inc();
  }

  /** Starts to count what a forwarder does. */
  addForward(forward: string, reasons: readonly string[]): void {
    this.#forwarded.inc({ forward }, 0);
    for (const reason of reasons) this.#forwardFailures.inc({ forward, reason }, 0);
  }

  /** Sets the number of entries that a forwarder has to send. */
  forwardLag(forward: string, entries: number): void {
    this.#forwardLag.set({ forward }, entries);
  }

  /** Counts records that a destination has acknowledged. */
  forwarded(forward: string, records: number, timeMs: number): void {
    this.#forwarded.inc({ forward }, records);
    this.#forwardSuccess.set({ forward }, timeMs / 1000);
  }

  /** Counts a batch that a destination has not acknowledged. */
  forwardFailed(forward: string, reason: string): void {
    this.#forwardFailures.inc({ forward, reason });
  }

  /** Counts entries that were appended to logs. */
  logged(entries: number): void {
    this.#logEntries.inc(entries);
  }

  /** Counts sessions that reached a level. */
  levelsReached(reached: ReachedLevels): void {
    for (const [level, count] of Object.entries(reached)) this.#levels.inc({ level }, count);
  }

  /** Counts the decision of a check. */
  decision(decision: Decision): void {
    this.#decisions.inc({ decision });
  }

  /** Counts an action that was held. */
  heldAction(): void {
    this.#heldActions.inc();
  }

  /** Counts a held action that ended. */
  heldActionEnded(status: HeldActionEnd): void {
    this.#endedActions.inc({ status });
  }

  /** Counts an attempt to deliver a message. */
  delivery(outcome: DeliveryOutcome): void {
    this.#deliveries.inc({ outcome });
  }

  /** Counts a request with its duration in milliseconds. */
  request(method: string, route: string, status: number, durationMs: number): void {
    this.#requests.observe(method, route, status, durationMs);
  }

  /** Counts a request that exceeded a quota. */
  quotaRefusal(quota: string): void {
    this.#refusals.inc({ quota });
  }

  /** Counts spans that were not understood. */
  unreadSpans(spans: readonly UnreadSpans[]): void {
    if (spans.length === 0) return;
    for (const { scope, reason, count } of spans) this.#unreadCounts.add(scope, reason, count);
    this.#unreadSpans.reset();
    for (const { scope, reason, count } of this.#unreadCounts.list()) {
      this.#unreadSpans.inc({ scope, reason }, count);
    }
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

/** Name of the histogram of durations. */
const durationsName = 'actlog_http_request_duration_seconds';

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
 * Histogram for prom-client's registry with separate counting. prom-client validates and sorts labels on each
 * observation, which would cost more than all other instrumentation of a request.
 */
export class RequestDurations {
  readonly #series = new Map<string, Series>();

  constructor(registry: Registry) {
    const get = async () => ({
      name: durationsName,
      help: 'Duration of requests by method, route and status.',
      type: 'histogram',
      aggregator: 'sum',
      values: [...this.#series.values()].flatMap(valuesOf),
    });
    // The registry reads only these two members of a metric.
    registry.registerMetric({ name: durationsName, get } as unknown as Histogram);
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
    return {
      labels: { le: bounds[index] ?? '+Inf', ...labels },
      value: total,
      metricName: `${durationsName}_bucket`,
    };
  });
  return [
    ...buckets,
    { labels, value: sumSeconds, metricName: `${durationsName}_sum` },
    { labels, value: total, metricName: `${durationsName}_count` },
  ];
}
