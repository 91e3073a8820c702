import { execFile } from 'node:child_process';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { json, ScriptedServer } from './scripted-server.ts';

const server = new ScriptedServer();
beforeAll(() => server.start());
afterAll(() => server.stop());

/** Lists agents in a program where loading undici fails, as in an ES module bundle. */
async function listsWithoutUndici(options = ''): Promise<string> {
  const program = `
    import { registerHooks } from 'node:module';
    const load = (address, context, next) => {
      if (address.includes("/node_modules/undici/")) throw new Error('Dynamic require of "node:assert" is not supported');
      return next(address, context);
    };
    registerHooks({ load });
    const { Actlog } = await import('@actlog/client');
    const client = new Actlog({ apiKey: 'al_test_bundle', baseURL: '${server.origin}', ${options} });
    const agents = await client.agents.list().toArray({ limit: 1 }).catch((error) => error);
    console.log(agents instanceof Error ? agents.name + ': ' + agents.message : agents.length + ' agents');
  `;
  const { stdout } = await promisify(execFile)(
    process.execPath,
    ['--conditions=@actlog/source', '--input-type=module', '--eval', program],
    { cwd: join(import.meta.dirname, '..') },
  );
  return stdout.trim();
}

it('suggests passing fetch when undici cannot be loaded, which works', async () => {
  server.script(json(200, { items: [], nextCursor: null }));
  expect(await listsWithoutUndici()).toMatch(
    /^InvalidArgumentError: undici cannot be loaded \(Error: Dynamic require.*\): use Node.js 22\.19 .*, or pass fetch: globalThis\.fetch\.$/,
  );
  expect(server.requests).toEqual([]);
  expect(await listsWithoutUndici('fetch: globalThis.fetch')).toBe('0 agents');
});
