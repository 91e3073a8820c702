import { Actlog } from '@actlog/client';
import { consoleSite } from '@actlog/console';
import { startServer } from '@actlog/server';
import { launchBrowser } from '@actlog/test-browser';
import { recordMonth } from '../examples/quickstart/src/month.ts';
import { ConsoleVisitor } from './console/console-visitor.ts';
import { median } from './measure/interleaved-rounds.ts';

/** One-line description of this benchmark. */
export const description =
  'The console in Chromium with a month of data: weight and DOM nodes of each page, and time to content over a slow line';

/** Limits of the time to content in milliseconds, at 400 kbit/s with 400 ms of latency. */
const limits = { firstVisitMs: 3500, secondVisitMs: 1500 };

/** Maximum bytes of the overview over the wire, without its data. */
const maxOverviewBytes = 90_000;

/** Pages with the element whose appearance counts as content. */
const pages: Readonly<Record<string, string>> = {
  '/': '.totals b',
  '/sessions': '.session-list tbody tr',
  '/approvals': '.held',
  '/policies': 'main tbody tr',
  '/decisions': 'main tbody tr',
  '/agents': 'main tbody tr',
  '/webhooks': 'main .empty',
  '/keys': 'main .log li',
  '/audit': 'main .log li',
};

/** Options: `--rounds=N` (default 5). Fails when a visit, or the weight of the overview, is over its limit. */
export async function run(args: string[]): Promise<Record<string, unknown>> {
  const rounds = Number(args.find((arg) => arg.startsWith('--rounds='))?.split('=')[1] ?? 5);
  const server = await startServer({ port: 0, database: ':memory:', logLevel: 'silent' });
  const browser = await launchBrowser();
  try {
    const client = new Actlog({ baseURL: server.url, apiKey: server.apiKey });
    await recordMonth(client);
    await consoleSite(); // builds it
    const { items } = await client.sessions.list({ sort: 'riskScore', limit: 1 });
    const session = `/sessions/${encodeURIComponent(items[0]?.id ?? '')}`;
    const visitor = new ConsoleVisitor(browser, server.url, server.apiKey);

    const weights: Record<string, unknown> = {};
    for (const [place, content] of [...Object.entries(pages), [session, '.key-calls li'] as const]) {
      const { siteBytes, dataBytes, domNodes } = await visitor.visit(place, content);
      weights[place] = { siteBytes, dataBytes, domNodes };
      if (place === '/' && siteBytes > maxOverviewBytes) process.exitCode = 1;
    }

    const times: Record<string, Record<string, unknown>> = {};
    for (const [name, place, content] of [
      ['overview', '/', '.totals b'],
      ['session', session, '.key-calls li'],
    ] as const) {
      const visits = [];
      for (let round = 0; round < rounds; round += 1) visits.push(await visitor.slowVisits(place, content));
      const firstVisitMs = Math.round(median(visits.map(({ firstMs }) => firstMs)));
      const secondVisitMs = Math.round(median(visits.map(({ secondMs }) => secondMs)));
      times[name] = { firstVisitMs, secondVisitMs };
      const isOver = firstVisitMs > limits.firstVisitMs || secondVisitMs > limits.secondVisitMs;
      if (isOver) process.exitCode = 1;
    }
    if (!args.includes('--json')) {
      console.log('Bytes over the wire of the first visit of each page, and its DOM nodes');
      console.table(weights);
      console.log('Time to content at 400 kbit/s with 400 ms of latency; medians in milliseconds');
      console.table({ ...times, limit: limits });
    }
    return { weights, times, limits };
  } finally {
    await browser.close();
    await server.close();
  }
}
