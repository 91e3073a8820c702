import { join } from 'node:path';
import { Consumer } from './consumer.ts';
import { snippetsOf } from './snippets.ts';
import { neededBy, type Tarball } from './tarballs.ts';

const jestVersion = '30.5.2';

/** Makes the tests of a file fail if anything opens a connection. */
const noNetwork = `const { Socket } = require('node:net');
const attempts = [];
Socket.prototype.connect = function connect() {
  attempts.push(new Error('a connection was opened').stack);
  throw new Error('there is no network');
};
afterAll(() => expect(attempts).toEqual([]));
`;

/** First version of Node in which jest's `require` loads ES modules. */
function canRequireModules([major = 0, minor = 0]: readonly number[]): boolean {
  return major > 24 || (major === 24 && minor >= 9);
}

/** Returns the same test as CommonJS. */
function withRequire(code: string): string {
  return code.replaceAll(/^import (\{.*?\}) from ('.*?');$/gm, 'const $1 = require($2);');
}

/**
 * Runs a page's snippets for jest, as an ES module and, if this Node supports it, with `require`. Fails if anything
 * connects to the network.
 *
 * @param peers - peer dependencies of the package, with versions
 */
export function runJest(
  { folder, manifest }: Tarball,
  tarballs: readonly Tarball[],
  peers: Record<string, string>,
): void {
  const snippets = snippetsOf(join(folder, 'README.md'), 'jest');
  if (snippets.length === 0) throw new Error(`The page of ${manifest.name} has no snippet for jest`);
  const used = [manifest.name, ...snippets.flatMap(({ code }) => code.match(/@actlog\/[\w-]+/g) ?? [])];
  const consumer = Consumer.install(neededBy(used, tarballs), { ...peers, jest: jestVersion }, 'npm');
  try {
    consumer.write('no-network.cjs', noNetwork);
    const isRequireToo = canRequireModules(process.versions.node.split('.').map(Number));
    for (const { name, code } of snippets) {
      consumer.write(name, code);
      if (isRequireToo) consumer.write(name.replace(/\.mjs$/, '.cjs'), withRequire(code));
    }
    consumer.run('npx', ['jest', '--ci', '--setupFilesAfterEnv=./no-network.cjs'], {
      NODE_OPTIONS: '--experimental-vm-modules',
    });
    console.log(
      `✓ ${manifest.name} in jest ${jestVersion}${isRequireToo ? ', by import and by require' : ''}`,
    );
  } finally {
    consumer.remove();
  }
}
