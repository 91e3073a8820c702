import { fork } from 'node:child_process';
import { once } from 'node:events';
import { appendFile, mkdtemp, readdir, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { NotFoundError } from '@actlog/client';
import {
  type ExportSessionsOptions,
  type ExportSessionsProgress,
  exportSessions,
} from '@actlog/client/scripts';
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { failure, json, raw, type Script, ScriptedServer } from './scripted-server.ts';
import { rejection, testClient } from './test-client.ts';

let server: ScriptedServer;
let folder: string;
let path: string;
beforeAll(async () => {
  server = await new ScriptedServer().start();
});
afterAll(() => server.stop());
beforeEach(async () => {
  folder = await mkdtemp(join(tmpdir(), 'actlog-sessions-'));
  path = join(folder, 'sessions.jsonl');
});
afterEach(() => rm(folder, { recursive: true, force: true }));

const names = Array.from({ length: 12 }, (_, index) => `session ${index}`);

/** Serves sessions in pages of five, and their documents, unless `other` responds. */
function serve(sessions: readonly string[] = names, other?: (url: URL) => Script | undefined): void {
  server.script((response, request) => {
    const url = new URL(request.url, server.origin);
    const own = other?.(url);
    if (own) return own(response, request);
    const [, id] = /^\/v1\/sessions\/(.+)\/export\.json$/.exec(url.pathname) ?? [];
    if (id) return json(200, documentOf(decodeURIComponent(id)))(response, request);
    const start = Number(url.searchParams.get('cursor') ?? 0);
    const items = sessions.slice(start, start + 5).map((name) => ({ id: name }));
    const nextCursor = start + 5 < sessions.length ? String(start + 5) : null;
    return json(200, { items, nextCursor })(response, request);
  });
}

function documentOf(id: string) {
  return { session: { id }, events: [{ eventId: `event of ${id}` }], eventCount: 1 };
}

const run = (options: ExportSessionsOptions = {}) => {
  const { client } = testClient(server.origin, { maxRetries: 0 });
  return exportSessions(client, path, options);
};

/** Ids of the sessions in the file, in its order. */
async function exported(): Promise<string[]> {
  const text = await readFile(path, 'utf8');
  expect(text.endsWith('\n')).toBe(true);
  const documents = text
    .trimEnd()
    .split('\n')
    .map((line) => JSON.parse(line));
  for (const document of documents) expect(document).toEqual(documentOf(document.session.id));
  return documents.map(({ session }) => session.id);
}

const requestedDocuments = () =>
  server.requests.map(({ url }) => url).filter((url) => url.endsWith('/export.json'));

describe('exportSessions', () => {
  it('writes every session as one line, in the order of the list', async () => {
    serve();
    const steps: ExportSessionsProgress[] = [];
    const result = await run({ query: { agentId: 'billing' }, onProgress: (step) => steps.push(step) });
    expect(await exported()).toEqual(names);
    const bytes = (await readFile(path)).length;
    expect(result).toEqual({ path, sessions: 12, resumed: 0, missing: 0, bytes });
    expect(steps.map(({ sessions }) => sessions)).toEqual(names.map((_, index) => index + 1));
    expect(steps.at(-1)).toEqual({ sessionId: 'session 11', sessions: 12, bytes });
    expect(server.requests[0]?.url).toBe('/v1/sessions?limit=200&agentId=billing');
    expect(await readdir(folder)).toEqual(['sessions.jsonl']);
  });

  it('writes an empty file if there are no sessions', async () => {
    serve([]);
    expect(await run()).toMatchObject({ sessions: 0, bytes: 0 });
    expect(await readFile(path, 'utf8')).toBe('');
  });

  it('writes a session once that the list gives twice', async () => {
    serve(['a', 'b', 'a', 'c', 'b', 'a']);
    await run();
    expect(await exported()).toEqual(['a', 'b', 'c']);
  });

  it('writes a document with line breaks as one line', async () => {
    const text = JSON.stringify(documentOf('a'), null, 2).replaceAll('\n', '\r\n');
    serve(['a'], ({ pathname }) => (pathname.endsWith('.json') ? raw(200, `${text}\r\n`) : undefined));
    await run();
    expect(await exported()).toEqual(['a']);
  });

  it('counts sessions that were deleted meanwhile', async () => {
    serve(names, ({ pathname }) =>
      pathname.includes('session%203') ? failure(404, 'NOT_FOUND') : undefined,
    );
    expect(await run()).toMatchObject({ sessions: 11, missing: 1 });
    expect(await exported()).toEqual(names.filter((name) => name !== 'session 3'));
  });

  it.each([
    ['a request that fails', 'fails'],
    ['a signal', 'abort'],
    ['an error of the caller', 'throw'],
  ])('continues after %s, with nothing lost or doubled', async (_name, how) => {
    serve(names, ({ pathname }) =>
      how === 'fails' && pathname.includes('session%207') ? failure(500, 'INTERNAL') : undefined,
    );
    const controller = new AbortController();
    let reached = 0;
    const onProgress = ({ sessions }: ExportSessionsProgress) => {
      reached = sessions;
      if (how === 'abort' && sessions === 7) controller.abort();
      if (how === 'throw' && sessions === 7) throw new Error('caller failed');
    };
    const error = await rejection(run({ onProgress, signal: controller.signal }));
    expect(error.code ?? error.message).toBe(
      { fails: 'INTERNAL', abort: 'ABORTED', throw: 'caller failed' }[how],
    );
    await expect(readFile(path)).rejects.toMatchObject({ code: 'ENOENT' });
    serve();
    const counts: number[] = [];
    const result = await run({ onProgress: ({ sessions }) => counts.push(sessions) });
    expect(await exported()).toEqual(names);
    // Documents that had arrived when the signal was aborted are in the file too.
    expect(reached).toBeLessThan(12);
    expect(result).toMatchObject({ sessions: 12, resumed: reached });
    expect(counts).toEqual(names.slice(reached).map((_, index) => reached + index + 1));
    expect(requestedDocuments()).toHaveLength(12 - reached);
    expect(await readdir(folder)).toEqual(['sessions.jsonl']);
  });

  it.each([
    ['a line that was written in part', '{"session":{"id":"session 7"},"eve', ''],
    ['a whole line that is not in the journal', `${JSON.stringify(documentOf('session 7'))}\n`, ''],
    ['a damaged end of the journal', '', '{"id":"session 7","by'],
    ['zeros at the end of the journal', '', '\0\0\0\n'],
    ['an entry of the journal without its line', '', '{"id":"session 7","bytes":999999}\n'],
  ])('continues from %s', async (_name, line, entry) => {
    serve(names, ({ pathname }) => (pathname.includes('session%207') ? failure(500, 'INTERNAL') : undefined));
    await rejection(run());
    await appendFile(`${path}.partial/lines`, line);
    await appendFile(`${path}.partial/journal`, entry);
    await writeFile(`${path}.partial/99.part`, 'left behind');
    serve();
    expect(await run()).toMatchObject({ sessions: 12, resumed: 7 });
    expect(await exported()).toEqual(names);
  });

  it('continues after the process was killed', async () => {
    serve();
    const child = fork(
      fileURLToPath(new URL('./export-process.ts', import.meta.url)),
      [server.origin, path],
      {
        execArgv: ['--conditions=@actlog/source', '--disable-warning=ExperimentalWarning'],
      },
    );
    const [message] = await once(child, 'message');
    expect(message).toBe('five sessions');
    child.kill('SIGKILL');
    await once(child, 'exit');
    serve();
    const { resumed } = await run();
    expect(resumed).toBeGreaterThanOrEqual(5);
    expect(await exported()).toEqual(names);
  });

  it('continues with other times, and adds what is new', async () => {
    serve(names.slice(4));
    const onProgress = () => {
      throw new Error('caller failed');
    };
    await rejection(run({ onProgress, query: { startedAfter: new Date(0) } }));
    serve();
    expect(await run({ query: { startedAfter: new Date(1) } })).toMatchObject({ sessions: 12, resumed: 1 });
    expect((await exported()).sort()).toEqual([...names].sort());
  });

  it('does not mix exports with other filters', async () => {
    serve(names, () => failure(500, 'INTERNAL'));
    await rejection(run({ query: { agentId: 'billing' } }));
    const error = await rejection(run({ query: { agentId: 'support' } }));
    expect(error.message).toBe(
      `path ${path} has an interrupted export of another deployment or with other filters: continue with those, or delete ${path}.partial.`,
    );
  });

  it('does not overwrite a file', async () => {
    serve();
    await writeFile(path, 'mine');
    expect((await rejection(run())).message).toBe(
      `path ${path} exists: delete the file, or choose another path.`,
    );
    expect(await readFile(path, 'utf8')).toBe('mine');
    expect(server.requests).toEqual([]);
  });

  it('passes on errors of the service', async () => {
    serve(names, () => failure(404, 'NOT_FOUND'));
    expect(await rejection(run())).toBeInstanceOf(NotFoundError);
  });

  it.each(['', undefined, new URL('file:///tmp/x')])('rejects the path %s', async (wrong) => {
    const { client } = testClient(server.origin);
    expect((await rejection(exportSessions(client, wrong as string))).message).toMatch(
      /^path must be a file path/,
    );
  });

  it('reads a service with other names', async () => {
    serve([], ({ pathname }) =>
      pathname === '/v1/sessions'
        ? json(200, { hints: [], rows: [{ slug: 'a' }, { slug: 'b' }], nextCursor: null })
        : undefined,
    );
    expect(await run({ itemsKey: 'rows', idKey: 'slug' })).toMatchObject({ sessions: 2 });
    expect(await exported()).toEqual(['a', 'b']);
  });
});
