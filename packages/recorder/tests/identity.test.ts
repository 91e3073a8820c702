import { mkdtemp, readdir, readFile, rename, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { Actlog } from '@actlog/client';
import { type RunningServer, startServer } from '@actlog/server';
import { afterEach, beforeEach, expect, test, vi } from 'vitest';
import { audience, startTestIssuer, type TestIssuer } from '../../identity/tests/test-issuer.ts';
import { Recorder, type RecorderOptions } from '../src/index.ts';

let issuer: TestIssuer;
let server: RunningServer;
let client: Actlog;
let spoolDir: string;

beforeEach(async () => {
  issuer = await startTestIssuer();
  server = await startServer({
    docs: false,
    identityIssuers: [{ issuer: issuer.url, audience, agents: { '*': '$1' } }],
  });
  client = new Actlog({ baseURL: server.url, apiKey: server.apiKey });
  spoolDir = await mkdtemp(join(tmpdir(), 'actlog-identity-'));
});
afterEach(async () => {
  vi.unstubAllEnvs();
  await server.close();
  await issuer.close();
  await rm(spoolDir, { recursive: true, force: true });
});

const guard = { mode: 'enforce', onUnavailable: 'deny' } as const;

function recorderOf(options: RecorderOptions = {}): Recorder {
  return new Recorder({
    baseURL: server.url,
    apiKey: server.agentKey,
    agentId: 'billing',
    spoolDir,
    ...options,
  });
}

/** Runs a call, and returns the subjects of its events. */
async function subjectsOf(recorder: Recorder, sessionId: string): Promise<unknown[]> {
  await recorder.session(sessionId).toolCall({ toolName: 'lookup', arguments: {} }, () => 'found');
  await recorder.close();
  const { events = [] } = await client.sessions.get(sessionId);
  return events.map(({ identity }) => identity?.subject);
}

test('sends the token of the option with checks and events, and keeps it nowhere', async () => {
  await client.policies.create({ name: 'verified', effect: 'deny', condition: '!agent.verified' });
  let reads = 0;
  const tokens: string[] = [];
  const identity = async () => {
    reads += 1;
    tokens.push(await issuer.token({ sub: 'billing', jti: String(reads) }));
    return tokens.at(-1);
  };
  const recorder = recorderOf({ identity, guard });
  expect(await subjectsOf(recorder, 'with')).toEqual(['billing']);
  expect(reads).toBe(2);
  const names = await readdir(spoolDir, { recursive: true, withFileTypes: true });
  for (const entry of names.filter((one) => one.isFile())) {
    const text = await readFile(join(entry.parentPath, entry.name), 'utf8');
    for (const token of tokens) expect(text).not.toContain(token.split('.')[2]);
  }
  const without = recorderOf({ guard });
  const call = without.session('without').toolCall({ toolName: 'lookup', arguments: {} }, () => 'found');
  await expect(call).rejects.toThrow('verified');
  await without.close();
});

test('reads the file of ACTLOG_IDENTITY_TOKEN_FILE again when it was replaced, as Kubernetes does', async () => {
  const file = join(spoolDir, 'token');
  const replace = async (sub: string) => {
    await writeFile(`${file}.new`, `${await issuer.token({ sub })}\n`);
    await rename(`${file}.new`, file);
  };
  await replace('billing');
  vi.stubEnv('ACTLOG_IDENTITY_TOKEN_FILE', file);
  let nowMs = 0;
  const agent = new Actlog({
    baseURL: server.url,
    apiKey: server.agentKey,
    clock: { ...realClock, now: () => nowMs },
  });
  const action = { toolName: 'lookup', argumentsHash: 'sha256:aa' };
  await client.policies.create({ name: 'new', effect: 'deny', condition: 'agent.subject == "mailer"' });
  expect((await agent.policies.check({ agentId: 'billing', action })).decision).toBe('allow');
  await replace('mailer');
  nowMs += 1000;
  expect((await agent.policies.check({ agentId: 'mailer', action })).decision).toBe('deny');
});

const realClock = {
  now: () => performance.now(),
  wallClock: () => Date.now(),
  setTimeout: (callback: () => void, delayMs: number) => setTimeout(callback, delayMs),
  clearTimeout: (timer: unknown) => clearTimeout(timer as NodeJS.Timeout),
  random: () => Math.random(),
};

test.each<[string, RecorderOptions['identity'] | null, RegExp]>([
  [
    'a function that throws',
    () => {
      throw new Error('secret-token');
    },
    /^identity could not be read \(Error\)/,
  ],
  ['a function that rejects', () => Promise.reject(new Error('secret-token')), /^identity could not be read/],
  ['a text that is no token', 'secret-token', /^identity has no token in the form of a JWT/],
  ['a missing file', null, /^ACTLOG_IDENTITY_TOKEN_FILE.* could not be read \(ENOENT\)/],
])('%s is reported, and the call is recorded without a token', async (_title, identity, message) => {
  if (identity === null) vi.stubEnv('ACTLOG_IDENTITY_TOKEN_FILE', join(spoolDir, 'nowhere'));
  const errors: string[] = [];
  const onError = (error: Error) => errors.push(error.message);
  const recorder = recorderOf({ ...(identity !== null && { identity }), onError });
  expect(await subjectsOf(recorder, 'without')).toEqual([undefined]);
  expect(errors.length).toBeGreaterThan(0);
  for (const text of errors) expect(text).toMatch(message);
  expect(errors.join()).not.toContain('secret-token');
});

test('events that waited are sent with the token of the time at which they are sent', async () => {
  let token = await issuer.token({ exp: Math.floor(Date.now() / 1000) - 600 });
  const recorder = recorderOf({ identity: () => token });
  await recorder.session('late').toolCall({ toolName: 'lookup', arguments: {} }, () => 'found');
  await recorder.flush({ timeoutMs: 500 });
  expect(recorder.stats()).toMatchObject({ delivered: 0, pending: 1, deadLettered: 0 });
  token = await issuer.token({ sub: 'billing' });
  expect(await recorder.flush({ timeoutMs: 20_000 })).toBeDefined();
  await recorder.close();
  const { events = [] } = await client.sessions.get('late');
  expect(events.map(({ identity }) => identity?.subject)).toEqual(['billing']);
});
