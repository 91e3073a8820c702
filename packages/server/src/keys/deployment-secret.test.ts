import { execFileSync } from 'node:child_process';
import { mkdtempSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { DeploymentSecret, randomSecret, secretBeside } from './deployment-secret.ts';

test('what is encrypted is read only with the same secret, in the same place, unaltered', () => {
  const secret = new DeploymentSecret(randomSecret());
  const encrypted = secret.encrypt('whsec_x', 'webhook:1:a');
  expect(encrypted).not.toContain('whsec');
  expect(secret.decrypt(encrypted, 'webhook:1:a')).toBe('whsec_x');
  expect(secret.encrypt('whsec_x', 'webhook:1:a')).not.toBe(encrypted);
  expect(() => secret.decrypt(encrypted, 'webhook:2:a')).toThrow();
  expect(() => new DeploymentSecret(randomSecret()).decrypt(encrypted, 'webhook:1:a')).toThrow();
  const bytes = Buffer.from(encrypted, 'base64');
  bytes[14] = (bytes[14] as number) ^ 1;
  expect(() => secret.decrypt(bytes.toString('base64'), 'webhook:1:a')).toThrow();
});

test('the secret beside a database is made once, for its owner only', () => {
  const folder = mkdtempSync(join(tmpdir(), 'actlog-secret-'));
  const database = join(folder, 'a.db');
  const secret = secretBeside(database);
  expect(secret.length).toBeGreaterThanOrEqual(43);
  expect(secretBeside(database)).toBe(secret);
  expect(statSync(`${database}.secret`).mode & 0o777).toBe(0o600);
  rmSync(folder, { recursive: true });
});

test("the secret is made under Node's permission model, which has no fsync", () => {
  const folder = mkdtempSync(join(tmpdir(), 'actlog-secret-'));
  const database = JSON.stringify(join(folder, 'a.db'));
  const file = JSON.stringify(import.meta.resolve('./deployment-secret.ts'));
  const program = `console.log((await import(${file})).secretBeside(${database}).length)`;
  const args = ['--permission', '--allow-fs-read=*', '--allow-fs-write=*', '--input-type=module'];
  expect(Number(execFileSync(process.execPath, [...args, '--eval', program]))).toBeGreaterThanOrEqual(43);
  rmSync(folder, { recursive: true });
});

test.each(['', '\n', 'cut short'])('a file that holds %j is taken for no secret', (text) => {
  const folder = mkdtempSync(join(tmpdir(), 'actlog-secret-'));
  const database = join(folder, 'a.db');
  writeFileSync(`${database}.secret`, text);
  expect(() => secretBeside(database)).toThrow(`${database}.secret does not hold the secret`);
  rmSync(folder, { recursive: true });
});
