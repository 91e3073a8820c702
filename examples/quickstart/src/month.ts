import type { Actlog } from '@actlog/client';

type ActivityEvent = Parameters<Actlog['events']['create']>[0];

const hourMs = 3_600_000;
const dayMs = 24 * hourMs;

/** An agent, how its sessions begin and go on, and its share of the sessions. */
interface Worker {
  readonly agentId: string;
  readonly share: number;
  /** Tools that it calls first, in this order. */
  readonly first: readonly string[];
  /** Tools that it calls next, in any order. */
  readonly next: readonly string[];
  /** Prefix of its session ids. */
  readonly subject: string;
}

const workers: readonly Worker[] = [
  {
    agentId: 'refund-agent',
    share: 0.3,
    first: ['get_order', 'get_customer'],
    next: ['get_order', 'refund', 'list_orders'],
    subject: 'refund',
  },
  {
    agentId: 'support-agent',
    share: 0.3,
    first: ['get_ticket', 'get_customer'],
    next: ['get_order', 'list_tickets', 'update_ticket'],
    subject: 'ticket',
  },
  {
    agentId: 'review-agent',
    share: 0.15,
    first: ['list_products'],
    next: ['fetch_web_page', 'summarize'],
    subject: 'reviews',
  },
  {
    agentId: 'deploy-agent',
    share: 0.15,
    first: ['get_build', 'run_tests'],
    next: ['run_tests', 'get_status', 'open_pull_request'],
    subject: 'deploy',
  },
  {
    agentId: 'report-agent',
    share: 0.1,
    first: ['query_database'],
    next: ['query_database', 'render_chart'],
    subject: 'report',
  },
];

/** Calls of compromised sessions, with the status of each. */
const incidents: readonly (readonly (readonly [tool: string, status: number])[])[] = [
  [
    ['fetch_web_page', 200],
    ['list_customers', 200],
    ['send_email', 200],
    ['delete_sent_mail', 200],
  ],
  [
    ['fetch_web_page', 200],
    ['read_secrets', 200],
    ['list_customers', 200],
    ['send_email', 200],
    ['delete_audit_log', 200],
  ],
  [
    ['fetch_web_page', 200],
    ['read_secrets', 200],
    ['export_customers', 200],
    ['http_post', 200],
    ['send_email', 200],
    ['delete_audit_log', 200],
    ['grant_role', 403],
    ['transfer_funds', 403],
    ['delete_backup', 403],
  ],
];

/** Days ago on which the database of the shop was slow, and calls failed more often. */
const outageDaysAgo = 9;

/** Returns a function with the next number from 0 to 1 of a fixed sequence (mulberry32), so that every run is alike. */
function sequence(seed: number): () => number {
  let state = seed;
  return () => {
    state = (state + 0x6d2b79f5) | 0;
    let mixed = Math.imul(state ^ (state >>> 15), state | 1);
    mixed ^= mixed + Math.imul(mixed ^ (mixed >>> 7), mixed | 61);
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 2 ** 32;
  };
}

/** Sessions that start in an hour of the week: most by day, few at night and on weekends. */
function sessionsAt(moment: Date, next: () => number): number {
  const isWeekend = moment.getUTCDay() % 6 === 0;
  const daylight = Math.max(0, Math.sin(((moment.getUTCHours() - 6) / 14) * Math.PI));
  return Math.floor((isWeekend ? 0.35 : 1.6) * daylight + 0.1 + next());
}

function workerOf(part: number): Worker {
  let rest = part;
  for (const worker of workers) {
    if (rest < worker.share) return worker;
    rest -= worker.share;
  }
  return workers[0] as Worker;
}

/** Returns the events of a month of five agents, oldest first: the same in every run, but for the time. */
export function monthOfEvents(nowMs: number): ActivityEvent[] {
  const next = sequence(2026);
  const hex = (digits: number) =>
    Array.from({ length: digits }, () => Math.floor(next() * 16).toString(16)).join('');
  const events: ActivityEvent[] = [];
  let number = 1000;
  const session = (startMs: number, worker: Worker, calls: readonly (readonly [string, number])[]) => {
    number += 1;
    let timeMs = startMs;
    for (const [toolName, responseStatus] of calls) {
      timeMs += 1000 + Math.floor(next() * 20_000);
      if (timeMs > nowMs) return;
      events.push({
        eventId: `${hex(8)}-${hex(4)}-4${hex(3)}-a${hex(3)}-${hex(12)}`,
        agentId: worker.agentId,
        sessionId: `${worker.subject}-${number}`,
        sourceTimestamp: new Date(timeMs).toISOString(),
        category: 'tool_api',
        schemaVersion: '1.0',
        payload: { toolName, argumentsHash: `sha256:${hex(64)}`, responseStatus },
      });
    }
  };
  const firstHourMs = Math.floor((nowMs - 30 * dayMs) / hourMs) * hourMs;
  for (let startMs = firstHourMs; startMs < nowMs; startMs += hourMs) {
    const daysAgo = Math.floor((nowMs - startMs) / dayMs);
    const failures = daysAgo === outageDaysAgo ? 0.35 : 0.02;
    for (let left = sessionsAt(new Date(startMs), next); left > 0; left -= 1) {
      const worker = workerOf(next());
      const calls = Array.from(
        { length: 2 + Math.floor(next() * 6) },
        (_, index): readonly [string, number] => {
          const tool =
            worker.first[index] ?? (worker.next[Math.floor(next() * worker.next.length)] as string);
          const chance = next();
          return [tool, chance < failures ? 500 : chance < failures + 0.012 ? 403 : 200];
        },
      );
      session(startMs + Math.floor(next() * hourMs), worker, calls);
    }
    // An attack every few days, and one in the last hours.
    const isAttacked = startMs === firstHourMs + Math.floor((30 * 24 - 3) * hourMs) || next() < 0.012;
    if (isAttacked) {
      const incident = incidents[Math.floor(next() * incidents.length)] ?? [];
      session(startMs, workers[2] as Worker, incident);
    }
  }
  return events;
}

/** Requests that are sent at once. */
const concurrency = 64;

/** Records a month of events, and has policies deny one action and hold two. Returns the number of events. */
export async function recordMonth(client: Actlog): Promise<number> {
  const events = monthOfEvents(Date.now());
  const queue = events.values();
  const send = async () => {
    for (const event of queue) await client.events.create(event);
  };
  await Promise.all(Array.from({ length: concurrency }, send));
  await client.policies.create({
    name: 'Refunds need a person',
    effect: 'require_approval',
    match: { tools: ['refund'] },
  });
  await client.policies.create({
    name: 'No deleted backups',
    effect: 'deny',
    match: { tools: ['delete_backup'] },
  });
  const check = (agentId: string, toolName: string, shown: Record<string, unknown>) =>
    client.policies.check({
      agentId,
      action: { toolName, argumentsHash: 'sha256:not-shown', arguments: shown },
    });
  await check('refund-agent', 'refund', { orderId: 'A-1002', amount: 310 });
  await check('refund-agent', 'refund', { orderId: 'A-1044', amount: 42.5 });
  await check('deploy-agent', 'delete_backup', { name: 'shop-2026-11' });
  await check('support-agent', 'search_docs', { words: 'lost parcel' });
  return events.length;
}
