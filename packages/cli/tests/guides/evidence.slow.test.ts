import { execFile } from 'node:child_process';
import { mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { expect, onTestFinished, test } from 'vitest';
import { freePort } from '../../../server/tests/free-port.ts';
import { commandEnvironment, commandLine } from '../command-line.ts';
import { temporaryFolder } from '../temporary-folder.ts';

const guide = readFileSync(join(import.meta.dirname, '../../../../docs/evidence.md'), 'utf8');

test('the guide "Prove last month to an auditor" proves its export, and names the changed record', {
  timeout: 300_000,
}, async () => {
  const folder = temporaryFolder();
  const [port, witnessPort] = [await freePort(), await freePort()];
  mkdirSync(join(folder, 'bin'));
  const command = [process.execPath, ...commandLine].map((word) => `'${word}'`).join(' ');
  writeFileSync(join(folder, 'bin/npx'), `#!/bin/sh\nshift\nexec ${command} "$@"\n`, { mode: 0o755 });
  const blocks = [...guide.matchAll(/<!-- follow -->\n+```sh\n(.*?)\n```/gs)].map(([, code]) => String(code));
  const script = blocks
    .join('\necho "@@"\n')
    .replaceAll('8787', String(port))
    .replace('log witness ', `log witness --port ${witnessPort} `);
  const env = commandEnvironment({ PATH: `${join(folder, 'bin')}:${process.env.PATH}` });
  onTestFinished(() => {
    for (const name of ['server.pid', 'witness.pid']) {
      try {
        process.kill(Number(readFileSync(join(folder, name), 'utf8')), 'SIGKILL');
      } catch {
        // It has not been started, or has ended.
      }
    }
  });
  const variables = { ...env, ACTLOG_PORT: String(port) };
  const options = { cwd: folder, env: variables, timeout: 280_000 };
  const { stdout } = await promisify(execFile)('bash', ['-e', '-c', script], options);
  const outputs = stdout.split('@@\n');
  expect(outputs).toHaveLength(blocks.length);
  const [, key = '', , , exported = '', changed = '', live = ''] = outputs;
  expect(key).toMatch(/^actlog-[0-9a-f]{8}\/default\/1\+[0-9a-f]{8}\+\S+\n$/);
  expect(exported).toMatch(/ witness\.example\.org has vouched for the first \d+ entries\.\n/);
  expect(exported).toMatch(/Proven\.\n$/);
  expect(exported).toMatch(/The period is complete: it has entries 0 to \d+ of the log/);
  const ofOrder34 = readFileSync(join(folder, 'changed.jsonl'), 'utf8')
    .split('\n')
    .find((line) => line.includes('order-99'));
  const { id } = JSON.parse(ofOrder34 ?? '{}');
  expect(changed).toContain(`record-changed: The event "${id}"`);
  expect(changed).toMatch(/exit code 1\n$/);
  expect(live).toMatch(/Proven\.\n$/);
});
