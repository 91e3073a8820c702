import { cp, mkdir, mkdtemp, realpath, rm, writeFile } from 'node:fs/promises';
import { createRequire } from 'node:module';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { setupServer } from 'msw/node';
import type { Agent } from 'undici';
import { afterEach, beforeEach, expect, it, vi } from 'vitest';
import { actlogMock } from '../src/index.ts';
import { interceptUndici } from '../src/node/index.ts';
import { watchNetwork } from './no-network.ts';

let project: string;

/** Creates a project whose client has its own copy of undici, as if the project used another version. */
beforeEach(async () => {
  project = await realpath(await mkdtemp(join(tmpdir(), 'actlog-copies-')));
  const client = join(project, 'node_modules/@actlog/client');
  const undici = dirname(createRequire(import.meta.url).resolve('undici'));
  await mkdir(client, { recursive: true });
  await writeFile(join(client, 'package.json'), '{"name":"@actlog/client","exports":"./index.js"}');
  await writeFile(join(client, 'index.js'), '');
  await cp(undici, join(client, 'node_modules/undici'), { recursive: true, dereference: true });
});
afterEach(async () => {
  vi.restoreAllMocks();
  await rm(project, { recursive: true });
});

it('intercepts the copy of undici that the client of the project loads', async () => {
  const mock = actlogMock();
  const server = setupServer(...mock.handlers);
  vi.spyOn(process, 'cwd').mockReturnValue(project);
  const connect = watchNetwork();
  server.listen();
  const undici = interceptUndici(mock, server);
  try {
    const load = createRequire(join(project, 'node_modules/@actlog/client/index.js'));
    const copy = load('undici') as { Agent: typeof Agent };
    const agent = new copy.Agent();
    const { statusCode } = await agent.request({ origin: mock.baseURL, path: '/healthz', method: 'GET' });
    expect(statusCode).toBe(200);
    expect(connect).not.toHaveBeenCalled();
  } finally {
    undici.close();
    server.close();
  }
});
