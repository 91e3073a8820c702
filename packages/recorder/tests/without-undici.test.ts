import { execFile } from 'node:child_process';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { expect, test } from 'vitest';
import { Sink } from './sink.ts';

/** Runs a program in which loading undici fails, as in an ES module bundle. */
async function recordsWithoutUndici(url: string, more = ''): Promise<string> {
  const program = `
    import { registerHooks } from 'node:module';
    const load = (address, context, next) => {
      if (address.includes('/node_modules/undici/')) throw new Error('Dynamic require of "node:assert" is not supported');
      return next(address, context);
    };
    registerHooks({ load });
    const { Recorder } = await import('@actlog/recorder');
    const told = Promise.withResolvers();
    const onError = ({ message }) => told.resolve(message);
    const connection = { apiKey: 'al_test_bundle', baseURL: '${url}', ${more} };
    const recorder = new Recorder({ ...connection, spool: false, onError, onDrop: () => {} });
    recorder.record({ toolName: 'tool', arguments: {}, responseStatus: 200 });
    const delivered = recorder.flush().then(({ delivered }) => 'delivered ' + delivered);
    console.log(await Promise.race([told.promise, delivered]));
    await recorder.close({ timeoutMs: 0 });
  `;
  const { stdout } = await promisify(execFile)(
    process.execPath,
    ['--conditions=@actlog/source', '--input-type=module', '--eval', program],
    { cwd: join(import.meta.dirname, '..') },
  );
  return stdout.trim();
}

test('reports that undici cannot be loaded, with a working fix', async () => {
  const sink = await Sink.start();
  expect(await recordsWithoutUndici(sink.url)).toMatch(
    /^Nothing is delivered: undici cannot be loaded \(Error: Dynamic require.*\): .*or pass fetch: globalThis\.fetch\.$/,
  );
  expect(sink.stored).toEqual([]);
  expect(await recordsWithoutUndici(sink.url, 'fetch: globalThis.fetch')).toBe('delivered 1');
  expect(sink.stored).toHaveLength(1);
});
