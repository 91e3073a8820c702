import type { LocalPostgres } from '../../packages/server/tests/local-postgres.ts';
import { median } from '../measure/interleaved-rounds.ts';
import { ChildServer } from './child-server.ts';
import { activeSpan, largeSession, rareTool, type Seeds } from './seed.ts';

/** Paths of reads that are to cost the same at every size, or those with the cursor of the thousandth page. */
const reads: Readonly<Record<string, string | ((thousandth: string) => string)>> = {
  'newest sessions': '/v1/sessions',
  'sessions, page 1,000': (thousandth) => `/v1/sessions?cursor=${thousandth}`,
  'sessions that score 99 or more': '/v1/sessions?minRiskScore=99',
  'sessions by risk': '/v1/sessions?sort=riskScore',
  'sessions of a rare tool': `/v1/sessions?toolName=${rareTool}`,
  'sessions with denials': '/v1/sessions?status=denied&sort=startedAt',
  // It ends after the sessions that one request may read.
  'sessions that do not exist': '/v1/sessions?agentIdContains=nobody',
  'a large session': `/v1/sessions/${largeSession}`,
  'its risk': `/v1/sessions/${largeSession}/risk`,
  'its marks': `/server/v1/sessions/${largeSession}/marks`,
  'marks of a session': '/server/v1/sessions/seeded-3000/marks',
  'overview of 12 days': `/server/v1/overview?since=${activeSpan.since}&until=${activeSpan.until}`,
  'agents by calls': '/server/v1/activity?kind=agent',
  'trends of an agent': '/server/v1/agents/agent-1/activity',
  'trends of a tool': '/server/v1/tools/search_documents_1/activity',
  'search: newest events': '/server/v1/events',
  'search: an agent': '/server/v1/events?agentId=agent-2',
  'search: failures of a tool': '/server/v1/events?toolName=search_documents_3&status=error',
  'search: a rare tool': `/server/v1/events?toolName=${rareTool}`,
  'search: a session': '/server/v1/events?sessionId=seeded-3000',
  'search: arguments that nobody used':
    '/server/v1/events?agentId=agent-1&status=denied&argumentsHash=sha256:none',
  // No index has both, so a page looks at as many events as it may.
  'search: two filters, no match': `/server/v1/events?toolName=${rareTool}&agentId=agent-1&status=error`,
  'search: two common filters': '/server/v1/events?toolName=search_documents_1&agentId=agent-2',
};

/** Medians of one read, in milliseconds, by the number of events; and the last one divided by the first. */
export interface FlatRead {
  readonly [size: string]: number;
  readonly ratio: number;
}

/** Results for one kind of database. */
export interface FlatnessResult {
  readonly ms: Readonly<Record<string, FlatRead>>;
  /** Pages of tables and indexes that a read touches, which no other load changes; PostgreSQL only. */
  readonly pages?: Readonly<Record<string, FlatRead>>;
  /** Export of the large session, by the number of events in the database. */
  readonly exports: Readonly<Record<string, ExportCosts>>;
}

/** Costs of an export. */
export interface ExportCosts {
  readonly events: number;
  readonly microsPerEvent: number;
  /** Growth of the server's memory meanwhile, in megabytes. */
  readonly megabytes: number;
}

/** Options for {@link measureFlatness}. */
export interface FlatnessOptions {
  /** Numbers of events, from the smallest. */
  readonly sizes: readonly number[];
  readonly kind: 'sqlite' | 'postgres';
}

const rounds = 40;
const warmRounds = 4;

/** Measures the same reads on databases of several sizes, in turn, so that other load affects all of them alike. */
export async function measureFlatness(
  seeds: Seeds,
  { sizes, kind }: FlatnessOptions,
): Promise<FlatnessResult> {
  const servers: { size: string; server: ChildServer; thousandth: string; pages: PageCount | undefined }[] =
    [];
  try {
    for (const events of sizes) {
      const name = kind === 'sqlite' ? await seeds.sqlite(events) : await seeds.database(events);
      const postgres = kind === 'sqlite' ? undefined : await seeds.postgres();
      const server = await ChildServer.start('actlog', postgres?.url(name, 'actlog') ?? name);
      servers.push({
        size: events.toLocaleString('en'),
        server,
        thousandth: await thousandthCursor(server),
        pages: postgres && (await PageCount.open(postgres, name)),
      });
    }
    const ms: Record<string, FlatRead> = {};
    const pages: Record<string, FlatRead> = {};
    for (const [read, path] of Object.entries(reads)) {
      const times = servers.map((): number[] => []);
      const before = await Promise.all(servers.map((each) => each.pages?.read()));
      for (let round = -warmRounds; round < rounds; round += 1) {
        for (const [index, { server, thousandth }] of servers.entries()) {
          const startedMs = performance.now();
          await get(server, typeof path === 'string' ? path : path(thousandth));
          if (round >= 0) times[index]?.push(performance.now() - startedMs);
        }
      }
      const after = await Promise.all(servers.map((each) => each.pages?.read()));
      const row = (values: readonly number[]): FlatRead => ({
        ...Object.fromEntries(servers.map(({ size }, index) => [size, Number(values[index]?.toFixed(1))])),
        ratio: Number(((values.at(-1) ?? 0) / (values[0] ?? 0)).toFixed(2)),
      });
      ms[read] = row(times.map(median));
      const touched = after.map((count, index) => Number(count) - Number(before[index]));
      pages[read] = row(touched.map((count) => count / (rounds + warmRounds)));
    }
    const exports: Record<string, ExportCosts> = {};
    for (const { size, server } of servers) exports[size] = await measureExport(server);
    return { ms, ...(kind === 'postgres' && { pages }), exports };
  } finally {
    for (const { server, pages } of servers) {
      await server.stop();
      await pages?.close();
    }
  }
}

async function get({ url, apiKey }: ChildServer, path: string): Promise<string> {
  const response = await fetch(url + path, { headers: { authorization: `Bearer ${apiKey}` } });
  const body = await response.text();
  if (!response.ok) throw new Error(`${path} returned ${response.status}: ${body}`);
  return body;
}

async function thousandthCursor(server: ChildServer): Promise<string> {
  let cursor = '';
  for (let page = 1; page < 1000; page += 1) {
    const found = await get(server, `/v1/sessions?limit=1${cursor && `&cursor=${cursor}`}`);
    cursor = (JSON.parse(found) as { nextCursor: string }).nextCursor;
  }
  return cursor;
}

type Client = Awaited<ReturnType<LocalPostgres['connect']>>;

/** Count of the pages that statements of a database touch. */
class PageCount {
  readonly #client: Client;

  private constructor(client: Client) {
    this.#client = client;
  }

  static async open(postgres: LocalPostgres, database: string): Promise<PageCount> {
    const client = await postgres.connect(database);
    await client.query('create extension if not exists pg_stat_statements');
    return new PageCount(client);
  }

  async read(): Promise<number> {
    const { rows } = await this.#client.query<{ pages: number }>(
      `select sum(shared_blks_hit + shared_blks_read)::float8 as pages from pg_stat_statements
        where userid = 'actlog'::regrole and dbid = (select oid from pg_database where datname = current_database())`,
    );
    return rows[0]?.pages ?? 0;
  }

  close(): Promise<void> {
    return this.#client.end();
  }
}

async function measureExport(server: ChildServer): Promise<ExportCosts> {
  const idleBytes = (await server.usage()).rssBytes;
  let mostBytes = idleBytes;
  const startedMs = performance.now();
  const response = await fetch(`${server.url}/v1/sessions/${largeSession}/export.json`, {
    headers: { authorization: `Bearer ${server.apiKey}` },
  });
  let tail = '';
  let chunks = 0;
  for await (const chunk of response.body as unknown as AsyncIterable<Uint8Array>) {
    tail = (tail + Buffer.from(chunk).toString('latin1')).slice(-200);
    chunks += 1;
    if (chunks % 500 === 0) mostBytes = Math.max(mostBytes, (await server.usage()).rssBytes);
  }
  const events = Number(/"eventCount":(\d+),"contentSha256"/.exec(tail)?.[1]);
  return {
    events,
    microsPerEvent: Math.round(((performance.now() - startedMs) * 1000) / events),
    megabytes: Math.round((mostBytes - idleBytes) / 1e6),
  };
}
