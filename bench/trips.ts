import { mkdtempSync, rmSync } from 'node:fs';
import { type Profiler, Session } from 'node:inspector/promises';
import { tmpdir } from 'node:os';
import { join, relative } from 'node:path';
import { fileURLToPath } from 'node:url';
import { Actlog } from '@actlog/client';
import { actlog } from '@actlog/langchain';
import { Recorder } from '@actlog/recorder';
import { startServer } from '@actlog/server';
import { request } from 'undici';
import { eventBodies } from './server/bodies.ts';
import { ChildServer } from './server/child-server.ts';

/** One-line description of this benchmark. */
export const description = 'Files and functions that one warm operation runs through; fails above the limits';

const packages = fileURLToPath(new URL('../packages/', import.meta.url));

/** Calls before the one that is measured, so that whatever is loaded or created once is there. */
const warmUpCalls = 20;

/** An operation, the packages that it is about, and the most files that it may run. */
interface Trip {
  readonly name: string;
  readonly packages: readonly string[];
  readonly maxFiles: number;
  readonly call: (number: number) => Promise<unknown>;
  /** Runs before the measured call, such as a delivery, so that the call does not include it. */
  readonly settle?: () => Promise<unknown>;
}

/** Functions that a warm operation ran. */
interface Coverage {
  /** Functions by file, with the paths relative to `packages`. */
  readonly files: ReadonlyMap<string, readonly string[]>;
}

/** Measured calls of a trip; the smallest counts, because a timer of a background task may run during another. */
const measuredCalls = 10;

/** Runs an operation until it is warm, and returns the functions that a further call runs in this thread. */
async function coverageOf({ call, settle = async () => {}, packages: names }: Trip): Promise<Coverage> {
  const session = new Session();
  session.connect();
  try {
    await session.post('Profiler.enable');
    await session.post('Profiler.startPreciseCoverage', { callCount: true, detailed: false });
    for (let number = 0; number < warmUpCalls; number += 1) await call(number);
    const measured: Coverage[] = [];
    for (let number = warmUpCalls; number < warmUpCalls + measuredCalls; number += 1) {
      await settle();
      await session.post('Profiler.takePreciseCoverage');
      await call(number);
      const { result } = await session.post('Profiler.takePreciseCoverage');
      measured.push({ files: ranFiles(result, names) });
    }
    return measured.reduce((least, other) => (other.files.size < least.files.size ? other : least));
  } finally {
    session.disconnect();
  }
}

/** Returns the functions that ran in the sources of some packages, by file. */
function ranFiles(
  scripts: readonly Profiler.ScriptCoverage[],
  names: readonly string[],
): Map<string, readonly string[]> {
  const files = new Map<string, readonly string[]>();
  for (const { url, functions } of scripts) {
    if (!url.startsWith('file:')) continue;
    const path = relative(packages, fileURLToPath(url));
    if (!names.some((name) => path.startsWith(`${name}/src/`))) continue;
    const ran = functions.filter(({ ranges }) => (ranges[0]?.count ?? 0) > 0);
    if (ran.length > 0) {
      files.set(
        path,
        ran.map(({ functionName }) => functionName),
      );
    }
  }
  return files;
}

const recording = ['adapters/langchain', 'recorder', 'tool-call', 'client', 'protocol'];
const serving = ['server', 'policy', 'risk', 'tool-call', 'protocol'];

const tool = {
  name: 'search',
  schema: { type: 'object', properties: { query: { type: 'string' } } } as const,
};

/** A LangChain tool that returns a constant. */
async function searchTool() {
  const { tool: createTool } = await import('@langchain/core/tools');
  return createTool(async () => 'ok', { ...tool, description: 'Searches.' });
}

/** The trips through the client and the recorder, against a server in another process. */
async function outside(
  server: ChildServer,
  spoolDir: string,
): Promise<{ trips: Trip[]; close: () => Promise<unknown> }> {
  const client = new Actlog({ baseURL: server.url, apiKey: server.apiKey });
  const settings = { apiKey: server.apiKey, baseURL: server.url, agentId: 'trips' };
  const recorder = new Recorder({ ...settings, spoolDir: join(spoolDir, 'recorded') });
  const guarded = new Recorder({ ...settings, spoolDir: join(spoolDir, 'guarded') });
  const plain = await searchTool();
  const [checked] = actlog.tools([plain], {
    recorder: guarded,
    sessionId: 'trips',
    guard: { mode: 'enforce', onUnavailable: 'deny' },
  });
  const callbacks = [actlog.handler({ recorder, sessionId: 'trips' })];
  const trips: Trip[] = [
    {
      name: 'client.sessions.list(), one page',
      packages: ['client', 'protocol'],
      maxFiles: 12,
      call: () => client.sessions.list({ limit: 1 }),
    },
    {
      name: 'a LangChain tool call, from the hook to the journal',
      packages: recording,
      maxFiles: 25,
      call: (number) => plain.invoke({ query: `weather ${number}` }, { callbacks }),
      settle: () => recorder.flush(),
    },
    {
      name: 'the same call, guarded',
      packages: recording,
      maxFiles: 45,
      call: (number) => (checked as typeof plain).invoke({ query: `weather ${number}` }),
      settle: () => guarded.flush(),
    },
  ];
  return { trips, close: () => Promise.all([recorder.close(), guarded.close()]) };
}

/** The trips through a server in this process. */
function inside({ url, apiKey }: { readonly url: string; readonly apiKey: string }): Trip[] {
  const nextEvent = eventBodies(5);
  const check = JSON.stringify({
    agentId: 'agent-1',
    sessionId: 'trips',
    action: { toolName: 'search', argumentsHash: `sha256:${'0'.repeat(64)}` },
  });
  const post = async (path: string, body: string) => {
    const response = await request(new URL(path, url), {
      method: 'POST',
      headers: { authorization: `Bearer ${apiKey}`, 'content-type': 'application/json' },
      body,
    });
    if (response.statusCode >= 300) throw new Error(`${path}: ${await response.body.text()}`);
    await response.body.dump();
  };
  return [
    {
      name: 'POST /v1/events in the server',
      packages: serving,
      maxFiles: 37,
      call: () => post('/v1/events', nextEvent()),
    },
    {
      name: 'POST /v1/policies/check in the server',
      packages: serving,
      maxFiles: 33,
      call: () => post('/v1/policies/check', check),
    },
  ];
}

/** Runs the benchmark. `--files` prints the files of each trip, with the functions that ran. */
export async function run(args: string[]): Promise<Record<string, unknown>> {
  const folder = mkdtempSync(join(tmpdir(), 'actlog-bench-'));
  const child = await ChildServer.start('actlog');
  const server = await startServer({ database: ':memory:' });
  const figures: Record<string, unknown> = {};
  try {
    const recorded = await outside(child, folder);
    for (const trip of [...recorded.trips, ...inside(server)]) {
      const { files } = await coverageOf(trip);
      const functions = [...files.values()].flat().length;
      const isOver = files.size > trip.maxFiles;
      if (isOver) process.exitCode = 1;
      figures[trip.name] = { files: files.size, functions, maxFiles: trip.maxFiles };
      console.log(
        `${trip.name}: ${files.size} files (limit ${trip.maxFiles}), ${functions} functions${isOver ? '  OVER THE LIMIT' : ''}`,
      );
      if (!args.includes('--files')) continue;
      for (const [path, names] of files) console.log(`  ${path}  ${names.filter(Boolean).join(', ')}`);
    }
    await recorded.close();
  } finally {
    await server.close();
    await child.stop();
    rmSync(folder, { recursive: true });
  }
  return figures;
}
