import { rmSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { codesOf, TestSetup } from './fixture.ts';

/** Puts a package.json where a package manager would have put the package. */
function installManifest(setup: TestSetup, path: string, manifest: object): void {
  setup.write(join('node_modules', path, 'package.json'), manifest);
}

/** Makes a library of the project bring a recorder of its own. */
function installSecondRecorder(setup: TestSetup, version: string): void {
  setup.write('package.json', { dependencies: { ai: '*', '@actlog/ai-sdk': '*', library: '*' } });
  installManifest(setup, 'library', {
    name: 'library',
    version: '1.0.0',
    dependencies: { '@actlog/recorder': '*' },
  });
  installManifest(setup, 'library/node_modules/@actlog/recorder', { name: '@actlog/recorder', version });
}

test.each([
  ['recorder-copies', '0.0.0'],
  ['recorder-versions', '0.1.0'],
])('finds %s', async (code, version) => {
  const setup = await TestSetup.create();
  installSecondRecorder(setup, version);
  setup.write('pnpm-lock.yaml', '');
  const lines = await setup.diagnose();
  expect(codesOf(lines, 'failed')).toEqual([code]);
  const { detail, fix } = lines.find((line) => line.code === code) ?? {};
  expect(detail).toContain(`${version} in node_modules/library/node_modules/@actlog/recorder`);
  expect(fix).toContain('pnpm dedupe');
});

test('finds a framework of a version that its adapter does not work with', async () => {
  const setup = await TestSetup.create();
  rmSync(join(setup.dir, 'node_modules/@actlog/ai-sdk'));
  const manifest = { name: '@actlog/ai-sdk', version: '1.2.0', peerDependencies: { ai: '^6.0.0 || ^7.0.0' } };
  installManifest(setup, '@actlog/ai-sdk', manifest);
  installManifest(setup, 'ai', { name: 'ai', version: '5.1.0' });
  const lines = await setup.diagnose();
  expect(codesOf(lines, 'failed')).toEqual(['peer-out-of-range']);
  const { detail, fix } = lines.find(({ code }) => code === 'peer-out-of-range') ?? {};
  expect(detail).toBe('@actlog/ai-sdk 1.2.0 works with ai ^6.0.0 || ^7.0.0, and 5.1.0 is installed.');
  expect(fix).toContain('npm install ai@6.0.0');
});

test('finds a framework that is not installed', async () => {
  const setup = await TestSetup.create();
  rmSync(join(setup.dir, 'node_modules/@actlog/ai-sdk'));
  installManifest(setup, '@actlog/ai-sdk', {
    name: '@actlog/ai-sdk',
    version: '1.2.0',
    peerDependencies: { ai: '^6.0.0' },
  });
  expect(codesOf(await setup.diagnose(), 'failed')).toEqual(['peer-missing']);
});

test('reports a framework without its adapter', async () => {
  const setup = await TestSetup.create();
  setup.write('package.json', { dependencies: { ai: '*', '@actlog/ai-sdk': '*', genkit: '*' } });
  const lines = await setup.diagnose();
  expect(codesOf(lines, 'failed')).toEqual([]);
  expect(codesOf(lines, 'warning')).toEqual(['adapter-missing']);
  expect(lines.find(({ code }) => code === 'adapter-missing')?.fix).toContain(
    'npm install @actlog/genkit @actlog/recorder',
  );
});

test('skips the packages of a folder without package.json', async () => {
  const setup = await TestSetup.create();
  rmSync(join(setup.dir, 'package.json'));
  const lines = await setup.diagnose();
  expect(lines.filter(({ status }) => status === 'skipped').map(({ check }) => check)).toEqual([
    'recorder',
    'frameworks',
  ]);
});
