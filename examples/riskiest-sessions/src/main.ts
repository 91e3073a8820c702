// The riskiest sessions of a week, with reasons: a weekly report. Copy `riskiest.ts`; this program provides a server, and
// records a week of three agents.
import { Actlog } from '@actlog/client';
import { Recorder } from '@actlog/recorder';
import { startServer } from '@actlog/server';
import { recordWeek } from './record-week.ts';
import { riskiest } from './riskiest.ts';

const server = await startServer({ port: 0 });
const client = new Actlog({ baseURL: server.url, apiKey: server.apiKey });
const recorder = new Recorder({ baseURL: server.url, apiKey: server.agentKey, spool: false });
const now = new Date();
recordWeek(recorder, now);
await recorder.close();

const aWeekAgo = new Date(now.getTime() - 7 * 24 * 3_600_000);
const shown: string[] = [];
console.log(`${'session'.padEnd(18)} ${'agent'.padEnd(10)} score  ${'level'.padEnd(9)} because`);
for await (const session of riskiest(client, { startedAfter: aWeekAgo, minRiskScore: 20, most: 5 })) {
  const { id, agentId, score, level, factor, evidence } = session;
  shown.push(id);
  console.log(
    `${id.padEnd(18)} ${agentId.padEnd(10)} ${score.toFixed(1).padStart(5)}  ${level.padEnd(9)} ${factor}`,
  );
  for (const call of evidence) console.log(`${' '.repeat(47)}${call}`);
}

const expected = ['mailbox-tidying', 'market-research', 'pull-request-77'];
if (shown.join() !== expected.join()) {
  console.error(`Expected the sessions ${expected.join(', ')}, got ${shown.join(', ') || 'none'}.`);
  process.exitCode = 1;
}
await server.close();
