import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect, onTestFinished, test } from 'vitest';
import { readEnvFile } from './connect.ts';

test.each(['utf8', 'utf16le'] as const)('reads variables after a byte order mark: %s', (encoding) => {
  const folder = mkdtempSync(join(tmpdir(), 'actlog-env-'));
  onTestFinished(() => rmSync(folder, { recursive: true }));
  const file = join(folder, '.env');
  writeFileSync(file, '\uFEFFACTLOG_API_KEY=al_test_1\nACTLOG_BASE_URL="http://127.0.0.1:9"\n', encoding);
  expect(readEnvFile(file)).toEqual({ ACTLOG_API_KEY: 'al_test_1', ACTLOG_BASE_URL: 'http://127.0.0.1:9' });
});
