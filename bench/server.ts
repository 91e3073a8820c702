import { measureBacktest } from './server/backtest.ts';
import { measureChecks } from './server/checks.ts';
import { measureFlatness } from './server/flatness.ts';
import { measureForwarding } from './server/forwarding.ts';
import { measureHistory } from './server/history.ts';
import { measureIngest } from './server/ingest.ts';
import { measureLists } from './server/lists.ts';
import { measureLog } from './server/log.ts';
import { measureNeighbors } from './server/neighbors.ts';
import { measureOtlp } from './server/otlp.ts';
import { measureOutage } from './server/outage.ts';
import { measurePostgres } from './server/postgres.ts';
import { measureRetention } from './server/retention.ts';
import { Seeds } from './server/seed.ts';
import { measureTiming } from './server/timing.ts';
import { measureUnread } from './server/unread.ts';

/** One-line description of this benchmark. */
export const description: string =
  'durable ingest, the log, kept decisions of checks, checks that read the history, backtests, spans by OTLP, flat reads, uniform responses (--full for ten million events); PostgreSQL with one and four processes, and gone for 30 s; a log forwarded to the history; responses that nobody reads; the largest lists, many at once; a quiet tenant beside the worst one';

/**
 * Concurrent callers of ingest. Each waits for its response, so half of them form a group: with 96 callers there are three
 * times as many disk writes per event, whose processor time counts (1.5 times the floor instead of 1.2).
 */
const usualConnections = 256;

/** Numbers of events in the databases of `reads`, and the last with `--full`. */
const sizes = [100_000, 1_000_000] as const;
const fullSize = 10_000_000;

/**
 * Measures ingest beside a handler that stores nothing, and reads at several sizes. `--full` adds ten million events to `reads`,
 * which needs 20 gigabytes of disk, and measures more and longer loads of `postgres`; there, `--log` also measures
 * with the log and with a history and `--load=TEXT` selects loads by their names; `--connections=N` sets the number of callers of `ingest` (256), and
 * `--ids=4` uses random event ids instead of ids in the order of time; `--seeds=FOLDER` keeps the databases of `reads` for the
 * next run, and `--database=KIND` reads only `sqlite` or `postgres`; `ingest`, `log`, `checks`, `history`, `backtest`, `otlp`,
 * `reads`, `retention`, `timing`, `postgres`, `forwarding`, `outage`, `unread`, `lists` or `neighbors` in `args` runs only that part.
 */
export async function run(args: string[]): Promise<Record<string, unknown>> {
  const wants = (part: string) => args.includes(part) || !args.some((arg) => !arg.startsWith('--'));
  const isShown = !args.includes('--json');
  const given = (name: string) => args.find((arg) => arg.startsWith(`--${name}=`))?.split('=')[1];
  const result: Record<string, unknown> = {};
  if (wants('ingest')) {
    const ingest = await measureIngest({
      connections: Number(given('connections') ?? usualConnections),
      ids: given('ids') === '4' ? 4 : 7,
      processes: 4,
      rounds: 5,
      roundMs: 1500,
    });
    result.ingest = ingest;
    if (isShown) console.table(ingest);
  }
  if (wants('log')) {
    const log = await measureLog({ connections: usualConnections, processes: 2, rounds: 6, roundMs: 2000 });
    result.log = log;
    if (isShown) {
      console.log('Events with and without entries in the log; cpuRatio is to be at most 1.05');
      console.table(log);
    }
  }
  if (wants('checks')) {
    const checks = await measureChecks({ connections: 64, processes: 2, rounds: 6, roundMs: 1500 });
    result.checks = checks;
    if (isShown) {
      console.log('Checks with and without kept decisions; cpuRatio is to be at most 1.1');
      console.table(checks);
    }
  }
  if (wants('history')) {
    const history = await measureHistory({ events: 1_000_000, pairs: 2000 });
    result.history = history;
    if (isShown) {
      console.log(
        'Checks that read the history in a session of a million events; addedP99Ms is to be at most 1',
      );
      console.table(history);
    }
  }
  if (wants('backtest')) {
    const backtest = await measureBacktest(1_000_000, 20);
    result.backtest = backtest;
    if (isShown) {
      console.log('A backtest over kept decisions; it is to take at most 60 seconds');
      console.table(backtest);
    }
  }
  if (wants('otlp')) {
    const otlp = await measureOtlp(7);
    result.otlp = otlp;
    if (isShown) {
      console.log('Processor time of a tool call, and its ratio to POST /v1/events');
      console.table(otlp);
    }
  }
  if (wants('reads')) {
    const seeds = new Seeds(given('seeds'));
    try {
      for (const kind of kindsOf(given('database'))) {
        const events = args.includes('--full') ? [...sizes, fullSize] : sizes;
        const reads = await measureFlatness(seeds, { sizes: events, kind });
        result[`reads ${kind}`] = reads;
        if (!isShown) continue;
        for (const [what, table] of Object.entries(reads)) {
          console.log(`Reads on ${kind}, ${what}`);
          console.table(table);
        }
      }
    } finally {
      await seeds.close();
    }
  }
  if (wants('retention')) {
    const seeds = new Seeds(given('seeds'));
    try {
      for (const kind of kindsOf(given('database'))) {
        const events = Number(given('events') ?? (args.includes('--full') ? fullSize : sizes[1]));
        const retention = await measureRetention(seeds, { events, kind });
        const { costs, beside, ...rest } = retention;
        result[`retention ${kind}`] = retention;
        if (!isShown) continue;
        console.log(`Retention on ${kind}: a deleted event, what responds meanwhile, start and backup`);
        console.table(costs);
        console.table(beside);
        console.table(rest);
      }
    } finally {
      await seeds.close();
    }
  }
  if (wants('timing')) {
    const timing = await measureTiming(9);
    result.timing = timing;
    if (isShown) {
      console.log('Requests for an unknown id (bare) and for an id of another tenant (ours), microseconds');
      console.table(timing);
    }
  }
  if (wants('postgres')) {
    const postgres = await measurePostgres({
      isFull: args.includes('--full'),
      keepsLog: args.includes('--log'),
      only: given('load'),
    });
    result.postgres = postgres;
    if (isShown) {
      console.table(postgres?.loads);
      for (const [load, tables] of Object.entries(postgres?.tables ?? {})) {
        console.log(`Bytes per event, and updates in place, with ${load}`);
        console.table(tables);
        console.log('Bytes of the write-ahead log for each index of the events');
        console.table(postgres?.indexes[load]);
      }
    }
  }
  if (wants('forwarding')) {
    const forwarding = await measureForwarding();
    result.forwarding = forwarding;
    if (isShown) {
      console.log('Events of a log to the history; statements are for a thousand events');
      console.table(forwarding);
    }
  }
  if (wants('outage')) {
    const outage = await measureOutage(30_000);
    result.outage = outage;
    if (isShown) console.table(outage);
  }
  if (wants('unread')) {
    const unread = await measureUnread();
    result.unread = unread;
    if (isShown) console.table(unread);
  }
  if (wants('lists')) {
    const lists = await measureLists(60);
    result.lists = lists;
    if (isShown) {
      console.log('The largest pages, 60 at once; healthzMaxMs is to be at most 100');
      console.table(lists);
    }
  }
  if (wants('neighbors')) {
    const neighbors = await measureNeighbors(5, 3000);
    result.neighbors = neighbors;
    if (isShown) {
      console.log('A quiet tenant: p99 at most 2 times what it is alone, or at most 20 ms');
      console.table(neighbors);
    }
  }
  return result;
}

function kindsOf(given: string | undefined): readonly ('sqlite' | 'postgres')[] {
  return (['sqlite', 'postgres'] as const).filter((kind) => given === undefined || kind === given);
}
