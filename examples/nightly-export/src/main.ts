// A nightly export of all sessions of a day to a newline-delimited file, with a manifest and a checksum.
// A timer runs `export-day.ts`. This program interrupts it once, continues it, and runs it again with nothing to do.
import { mkdtemp, readdir, readFile, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { Actlog, APIAbortError } from '@actlog/client';
import { Recorder } from '@actlog/recorder';
import { startServer } from '@actlog/server';
import { exportDay } from './export-day.ts';
import { sha256 } from './manifest.ts';

const server = await startServer({ port: 0 });
let requests = 0;
const hooks = {
  beforeRequest() {
    requests += 1;
  },
};
const client = new Actlog({ baseURL: server.url, apiKey: server.apiKey, hooks });
const folder = await mkdtemp(join(tmpdir(), 'actlog-nightly-export-'));

const day = new Date(Date.now() - 24 * 3_600_000).toISOString().slice(0, 10);
const midnightMs = Date.parse(`${day}T00:00:00.000Z`);
const recorder = new Recorder({
  baseURL: server.url,
  apiKey: server.agentKey,
  agentId: 'shop-desk',
  spool: false,
});
for (const [index, minute] of [-1, 0, 61, 300, 600, 900, 1439, 1440].entries()) {
  for (let call = 0; call < 3; call += 1) {
    recorder.session(`order/${2300 + index}`).record({
      toolName: 'get_order',
      arguments: { call },
      responseStatus: 200,
      sourceTimestamp: new Date(midnightMs + minute * 60_000 + call),
    });
  }
}
await recorder.close();

/** Exports the day, and prints the number of downloads and requests. */
async function night(mostSessions = Number.POSITIVE_INFINITY): Promise<number> {
  const before = requests;
  const interruption = new AbortController();
  let downloaded = 0;
  try {
    const onSession = () => {
      downloaded += 1;
      if (downloaded >= mostSessions) interruption.abort();
    };
    const { signal } = interruption;
    const manifest = await exportDay(client, { day, folder, signal, onSession });
    console.log(`${manifest.file}: ${manifest.sessions} sessions, ${manifest.bytes} bytes`);
  } catch (error) {
    if (!(error instanceof APIAbortError)) throw error;
    console.log('interrupted');
  }
  console.log(`  ${downloaded} sessions downloaded, ${requests - before} requests`);
  return downloaded;
}
const downloads = [await night(2), await night(), await night()];

const manifest = JSON.parse(await readFile(join(folder, `sessions-${day}.manifest.json`), 'utf8'));
const file = join(folder, manifest.file);
const lines = (await readFile(file, 'utf8')).trimEnd().split('\n');
const ids = lines.map((line) => JSON.parse(line).session.id as string).sort();
console.log(
  `\n${await readdir(folder).then((names) => names.join('  '))}\n${manifest.sha256}  ${manifest.file}`,
);
console.log(ids.join('  '));

const isRight =
  downloads.join() === '2,4,0' &&
  ids.join() === [2301, 2302, 2303, 2304, 2305, 2306].map((id) => `order/${id}`).join() &&
  manifest.sha256 === (await sha256(file));
if (!isRight) {
  console.error(
    `Expected six sessions, downloaded as 2, 4 and 0; they were downloaded as ${downloads.join(', ')}.`,
  );
  process.exitCode = 1;
}
await server.close();
await rm(folder, { recursive: true, force: true });
