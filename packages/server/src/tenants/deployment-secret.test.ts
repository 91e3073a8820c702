import { execFileSync } from 'node:child_process';
import { mkdtempSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { DeploymentSecret, randomSecret, secretBeside } from './deployment-secret.ts';

test('decrypts a text only with the same secret and context, and unaltered', () => {
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

test('creates the secret beside a database once, readable only by its owner', () => {
  const folder = mkdtempSync(join(tmpdir(), 'actlog-secret-'));
  const database = join(folder, 'a.db');
  const secret = secretBeside(database);
  expect(secret.length).toBeGreaterThanOrEqual(43);
  expect(secretBeside(database)).toBe(secret);
  expect(statSync(`${database}.secret`).mode & 0o777).toBe(0o600);
  rmSync(folder, { recursive: true });
});

test("creates the secret under Node's permission model, which has no fsync", () => {
  const folder = mkdtempSync(join(tmpdir(), 'actlog-secret-'));
  const database = JSON.stringify(join(folder, 'a.db'));
  const file = JSON.stringify(import.meta.resolve('./deployment-secret.ts'));
  const program = `console.log((await import(${file})).secretBeside(${database}).length)`;
  const args = ['--permission', '--allow-fs-read=*', '--allow-fs-write=*', '--input-type=module'];
  expect(Number(execFileSync(process.execPath, [...args, '--eval', program]))).toBeGreaterThanOrEqual(43);
  rmSync(folder, { recursive: true });
});

test.each(['', '\n', 'cut short'])('rejects a file that contains %j as a secret', (text) => {
  const folder = mkdtempSync(join(tmpdir(), 'actlog-secret-'));
  const database = join(folder, 'a.db');
  writeFileSync(`${database}.secret`, text);
  expect(() => secretBeside(database)).toThrow(`${database}.secret does not contain a secret`);
  rmSync(folder, { recursive: true });
});
