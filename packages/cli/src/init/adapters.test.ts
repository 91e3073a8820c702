import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { type Adapter, adapters, loop } from './adapters.ts';

const packages = join(import.meta.dirname, '..', '..', '..');
const folders = readdirSync(join(packages, 'adapters')).filter((name) =>
  existsSync(join(packages, 'adapters', name, 'package.json')),
);

function readText(path: string): string {
  return readFileSync(join(packages, path), 'utf8');
}

test('has every adapter, with its peers', () => {
  const manifests = folders.map((folder) => JSON.parse(readText(`adapters/${folder}/package.json`)));
  const expected = manifests.map(({ name, peerDependencies }) => [
    name,
    Object.keys(peerDependencies).sort(),
  ]);
  const found = adapters.map((adapter) => [adapter.package, [...adapter.frameworks].sort()]);
  expect(found.sort()).toEqual(expected.sort());
});

test.each(folders)('has the first snippet, the import and the packages of the README of %s', (folder) => {
  const adapter = adapters.find((each) => each.package === `@actlog/${folder}`) as Adapter;
  const readme = readText(`adapters/${folder}/README.md`);
  const [, snippet] = /```ts\n(.*?)\n```/s.exec(readme) ?? [];
  expect(adapter.line).toBe(snippet);
  expect(readme).toContain(`import { actlog } from '${adapter.package}';`);
  expect(readme).toContain(`npm install ${adapter.package} @actlog/recorder\n`);
});

test('has the function for loops of the README of the recorder', () => {
  const readme = readText('recorder/README.md');
  expect(readme).toContain(`import { actlog } from '${loop.package}';`);
  expect(readme).toContain(loop.line.replace(/functions\);$/, ''));
});
