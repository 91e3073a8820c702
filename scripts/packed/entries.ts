import type { Consumer } from './consumer.ts';
import type { Tarball } from './tarballs.ts';

/** Returns all entry points: `@actlog/client`, `@actlog/protocol/schemas`, … */
export function entriesOf(tarballs: readonly Tarball[]): string[] {
  return tarballs.flatMap(({ manifest }) =>
    Object.keys(manifest.exports).map((entry) => manifest.name + entry.slice(1)),
  );
}

/** Checks that every entry point loads by `import` and by `require`, with the same exports. */
export function loadEntries(consumer: Consumer, entries: readonly string[]): void {
  consumer.write(
    'load.mjs',
    `import { createRequire } from 'node:module';
const require = createRequire(import.meta.url);
for (const entry of ${JSON.stringify(entries)}) {
  const imported = Object.keys(await import(entry)).sort();
  const required = Object.keys(require(entry)).filter((name) => name !== '__esModule').sort();
  if (imported.length === 0) throw new Error(entry + ' exports nothing');
  if (imported.filter((name) => name !== 'default').join() !== required.filter((name) => name !== 'default').join())
    throw new Error(entry + ' differs between import and require');
}
`,
  );
  consumer.run('node', ['load.mjs']);
}

/** Checks that every command prints its help, and returns the commands. */
export function runCommands(consumer: Consumer, tarballs: readonly Tarball[]): string[] {
  const commands = tarballs.flatMap(({ manifest }) => Object.keys(manifest.bin ?? {}));
  for (const command of commands) {
    const help = consumer.run('npx', ['--no-install', command, '--help']);
    if (!/usage/i.test(help)) throw new Error(`${command} --help does not print its usage:\n${help}`);
  }
  return commands;
}

/** Checks the types of every entry point with each kind of module resolution, in each given compiler. */
export function compileEntries(
  consumer: Consumer,
  entries: readonly string[],
  compilers: readonly string[],
): void {
  const lines = entries.map((entry, index) => `import * as entry${index} from '${entry}';`);
  const uses = entries.map((_, index) => `entry${index}`).join(', ');
  consumer.write('types.mts', `${lines.join('\n')}\nexport const all = [${uses}];\n`);
  for (const compiler of compilers) {
    for (const [module, resolution] of [
      ['node16', 'node16'],
      ['nodenext', 'nodenext'],
      ['esnext', 'bundler'],
    ] as const) {
      const options = [
        '--module',
        module,
        '--moduleResolution',
        resolution,
        '--target',
        'es2022',
        '--strict',
      ];
      consumer.run('node', [compiler, '--noEmit', '--skipLibCheck', ...options, 'types.mts']);
    }
  }
}
