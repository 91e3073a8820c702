import { existsSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { parseEnv } from 'node:util';
import { expect, test } from 'vitest';
import { temporaryFolder } from '../temporary-folder.ts';
import { Terminal } from '../terminal.ts';

const apiKey = 'al_test_0123456789secret';

/** Starts `actlog init` in a terminal, for a project without variables. */
function startInit(args: readonly string[] = []): { terminal: Terminal; envFile: string } {
  const dir = temporaryFolder();
  writeFileSync(join(dir, 'package.json'), '{}');
  return { terminal: Terminal.actlogProcess(['init', '--dir', dir, ...args]), envFile: join(dir, '.env') };
}

test('asks for the address and the key in a terminal, and shows no key', async () => {
  const { terminal, envFile } = startInit();
  await terminal.shows('Address of the service');
  terminal.type('http://127.0.0.1:9999\r');
  await terminal.shows('API key with the scope');
  terminal.type(`${apiKey}\r`);
  await terminal.shows('[y/N]');
  terminal.type('y\r');
  expect(await terminal.ended()).toBe(0);
  expect(parseEnv(readFileSync(envFile, 'utf8'))).toEqual({
    ACTLOG_BASE_URL: 'http://127.0.0.1:9999',
    ACTLOG_API_KEY: apiKey,
  });
  expect(terminal.text).not.toContain('secret');
});

test('takes the address of a local server, and no key, for Enter', async () => {
  const { terminal, envFile } = startInit();
  await terminal.shows('Address of the service');
  terminal.type('\r');
  await terminal.shows('API key with the scope');
  terminal.type('\r');
  await terminal.shows('[y/N]');
  terminal.type('y\r');
  expect(await terminal.ended()).toBe(0);
  expect(readFileSync(envFile, 'utf8')).toBe('ACTLOG_BASE_URL=http://127.0.0.1:8787\nACTLOG_API_KEY=\n');
});

test('asks again for a key of another service', async () => {
  const { terminal } = startInit(['--base-url', 'http://127.0.0.1:9999']);
  await terminal.shows('API key with the scope');
  terminal.type('sk-1\r');
  await terminal.shows('is not an actlog key');
  terminal.type('\u0003');
  expect(await terminal.ended()).toBe(130);
});

test('writes nothing if the user declines or interrupts', async () => {
  const declined = startInit();
  await declined.terminal.shows('Address of the service');
  declined.terminal.type('\r');
  await declined.terminal.shows('API key with the scope');
  declined.terminal.type('\r');
  await declined.terminal.shows('[y/N]');
  declined.terminal.type('\r');
  expect(await declined.terminal.ended()).toBe(0);
  const interrupted = startInit();
  await interrupted.terminal.shows('Address of the service');
  interrupted.terminal.type('\u0003');
  expect(await interrupted.terminal.ended()).toBe(130);
  expect([existsSync(declined.envFile), existsSync(interrupted.envFile)]).toEqual([false, false]);
});
