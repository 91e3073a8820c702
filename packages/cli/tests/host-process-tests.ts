import { execFile } from 'node:child_process';
import { existsSync } from 'node:fs';
import { createRequire } from 'node:module';
import { dirname, join } from 'node:path';
import { promisify } from 'node:util';
import { describe, expect, test } from 'vitest';

const require = createRequire(import.meta.url);
const program = join(import.meta.dirname, 'programs/host-with-undici.ts');
/** Folder whose optional dependencies are the supported versions of Node. */
const runtimes = join(import.meta.dirname, '../../client/tests/runtimes/package.json');

function nodeOf(name: string): string | undefined {
  if (name === `node-${process.versions.node.split('.')[0]}`) return process.execPath;
  try {
    const path = join(dirname(createRequire(runtimes).resolve(`${name}/package.json`)), 'bin/node');
    return existsSync(path) ? path : undefined;
  } catch {
    return undefined;
  }
}

const undici8 = dirname(createRequire(require.resolve('../../client/package.json')).resolve('undici'));

/** Adds the tests of a program that sends an event, on versions of Node. */
export function testHostProcess(names: readonly string[]): void {
  describe.each(names)('on %s, sending an event', (name) => {
    test.for([
      ['installs no global dispatcher', 'none', 'before'],
      ['keeps the dispatcher that undici 6 has set', 'legacy', 'before'],
      ['keeps the dispatcher of an undici 8 that was loaded before', undici8, 'before'],
      ['lets an undici 8 that is loaded later work', undici8, 'after'],
    ] as const)('%s', async ([, own, order], { skip }) => {
      const command = nodeOf(name);
      if (command === undefined) {
        console.warn(`✗ NOT TESTED: ${name} is not installed on this machine`);
        return skip(`${name} is not installed`);
      }
      const args = ['--conditions=@actlog/source', '--no-warnings', program, own, order];
      const { stdout } = await promisify(execFile)(command, args);
      expect(JSON.parse(stdout)).toEqual({
        isUnchanged: true,
        delivered: 1,
        upstream: 200,
        own: own === undici8 ? 200 : undefined,
        dispatched: own === 'legacy' && name !== 'node-26' ? ['/mocked'] : [],
      });
    });
  });
}
