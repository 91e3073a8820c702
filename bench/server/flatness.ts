import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { ChildServer } from './child-server.ts';
import { activeSpan, largeSession, type SeedSize, seed } from './seed.ts';

/** Median milliseconds of reads. */
export interface ReadTimes {
  readonly firstPageMs: number;
  readonly thousandthPageMs: number;
  /** The first page of the few sessions that score 99 or more. */
  readonly riskyPageMs: number;
  /** The first page by risk, highest first. */
  readonly riskiestPageMs: number;
  /** The sessions of a tool that few of them called. */
  readonly toolPageMs: number;
  /** The few sessions with a denied action. */
  readonly deniedPageMs: number;
  /** A page of a filter that no session passes: it ends after the sessions that one request may read. */
  readonly emptyPageMs: number;
  readonly sessionMs: number;
  readonly riskMs: number;
  /** The overview of twelve days by hour, whose buckets have as many names as they can have. */
  readonly overviewMs: number;
  /** A page of the events of all sessions, of their failed calls by tool, and of calls that nobody made. */
  readonly eventsMs: number;
  readonly failedCallsMs: number;
  readonly noCallsMs: number;
}

/** Costs of reads and exports at one size. */
export interface SizeResult extends ReadTimes {
  readonly exportMs: number;
  readonly exportedEvents: number;
  /** Growth of the server's memory during the export, in megabytes. */
  readonly exportMegabytes: number;
}

/** Reads at a small and a large size, and their ratio; the limit is 2. */
export interface FlatnessResult {
  readonly small: SizeResult;
  readonly large: SizeResult;
  readonly ratios: ReadTimes;
}

const reads = 200;

/** Measures the same reads on two databases, in turn. */
export async function measureFlatness(small: SeedSize, large: SeedSize): Promise<FlatnessResult> {
  const folder = mkdtempSync(join(tmpdir(), 'actlog-bench-'));
  try {
    const files = [join(folder, 'small.db'), join(folder, 'large.db')] as const;
    await seed(files[0], small);
    await seed(files[1], large);
    return await measure(files[0], files[1]);
  } finally {
    rmSync(folder, { recursive: true });
  }
}

type Get = (path: string) => Promise<Response>;

function getter({ url, apiKey }: ChildServer): Get {
  return (path) => fetch(url + path, { headers: { authorization: `Bearer ${apiKey}` } });
}

async function measure(smallFile: string, largeFile: string): Promise<FlatnessResult> {
  const servers = [
    await ChildServer.start('actlog', smallFile),
    await ChildServer.start('actlog', largeFile),
  ];
  try {
    const gets = servers.map(getter);
    const cursors = await Promise.all(gets.map(thousandthCursor));
    const paths: { [Field in keyof ReadTimes]: (index: number) => string } = {
      firstPageMs: () => '/v1/sessions',
      thousandthPageMs: (index) => `/v1/sessions?cursor=${cursors[index]}`,
      riskyPageMs: () => '/v1/sessions?minRiskScore=99',
      riskiestPageMs: () => '/v1/sessions?sort=riskScore',
      toolPageMs: () => '/v1/sessions?toolName=transfer_funds',
      deniedPageMs: () => '/v1/sessions?status=denied&sort=startedAt',
      emptyPageMs: () => '/v1/sessions?agentIdContains=nobody',
      sessionMs: () => `/v1/sessions/${largeSession}`,
      riskMs: () => `/v1/sessions/${largeSession}/risk`,
      overviewMs: () => `/server/v1/overview?since=${activeSpan.since}&until=${activeSpan.until}`,
      eventsMs: () => '/server/v1/events',
      failedCallsMs: () => '/server/v1/events?toolName=search&status=error',
      noCallsMs: () => '/server/v1/events?agentId=agent-1&status=denied&argumentsHash=sha256:none',
    };
    const fields = Object.keys(paths) as (keyof ReadTimes)[];
    const times = [{}, {}] as [Record<string, number>, Record<string, number>];
    for (const field of fields) {
      const medians = await mediansMs(gets, paths[field]);
      medians.forEach((median, index) => {
        (times[index] as Record<string, number>)[field] = median;
      });
    }
    const [small, large] = times as unknown as [ReadTimes, ReadTimes];
    const [smallServer, largeServer] = servers as [ChildServer, ChildServer];
    return {
      small: { ...small, ...(await measureExport(smallServer)) },
      large: { ...large, ...(await measureExport(largeServer)) },
      ratios: Object.fromEntries(
        fields.map((field) => [field, large[field] / small[field]]),
      ) as unknown as ReadTimes,
    };
  } finally {
    for (const server of servers) await server.stop();
  }
}

async function thousandthCursor(get: Get): Promise<string> {
  let cursor = '';
  for (let page = 1; page < 1000; page += 1) {
    const answer = await get(`/v1/sessions?limit=1${cursor && `&cursor=${cursor}`}`);
    cursor = ((await answer.json()) as { nextCursor: string }).nextCursor;
  }
  return cursor;
}

/** Returns the median of many reads from each server, taken in turn, so that other load affects both alike. */
async function mediansMs(gets: readonly Get[], path: (index: number) => string): Promise<number[]> {
  const times = gets.map((): number[] => []);
  for (let round = 0; round < reads; round += 1) {
    for (const [index, get] of gets.entries()) {
      const startedMs = performance.now();
      const response = await get(path(index));
      await response.arrayBuffer();
      if (response.status !== 200) throw new Error(`${path(index)} answered ${response.status}.`);
      times[index]?.push(performance.now() - startedMs);
    }
  }
  return times.map((each) => each.sort((left, right) => left - right)[reads / 2] as number);
}

async function measureExport(server: ChildServer) {
  const get = getter(server);
  const idleBytes = (await server.usage()).rssBytes;
  let mostBytes = idleBytes;
  const startedMs = performance.now();
  const response = await get(`/v1/sessions/${largeSession}/export.json`);
  let tail = '';
  let chunks = 0;
  for await (const chunk of response.body as unknown as AsyncIterable<Uint8Array>) {
    tail = (tail + Buffer.from(chunk).toString('latin1')).slice(-200);
    chunks += 1;
    if (chunks % 500 === 0) mostBytes = Math.max(mostBytes, (await server.usage()).rssBytes);
  }
  return {
    exportMs: performance.now() - startedMs,
    exportedEvents: Number(/"eventCount":(\d+),"contentSha256"/.exec(tail)?.[1]),
    exportMegabytes: (mostBytes - idleBytes) / 1e6,
  };
}
