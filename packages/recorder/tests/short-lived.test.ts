import { mkdtempSync, readdirSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { Actlog } from '@actlog/client';
import { startServer } from '@actlog/server';
import { afterAll, beforeEach, expect, it, vi } from 'vitest';
import { hashArguments, Recorder } from '../src/index.ts';
import {
  ArgumentsHasher,
  CallGuard,
  type CheckedCall,
  createEventId,
  SpoolWriter,
  tenantSpoolFolder,
} from '../src/short-lived/index.ts';

const server = await startServer({ database: ':memory:', port: 0 });
const client = new Actlog({ baseURL: server.url, apiKey: server.apiKey });
const root = mkdtempSync(join(tmpdir(), 'actlog-short-lived-'));
beforeEach(() => void vi.stubEnv('ACTLOG_SPOOL_DIR', mkdtempSync(join(root, 'spool-'))));
afterAll(async () => {
  vi.unstubAllEnvs();
  await server.close();
  rmSync(root, { recursive: true });
});

const argumentsHash = new ArgumentsHasher().hashSync({ command: 'ls' });
const call = { agentId: 'coder', toolName: 'Bash', argumentsHash };

function newCheck(): CheckedCall {
  const id = createEventId(Date.now());
  return { ...call, sessionId: id, arguments: { command: 'ls' }, framework: 'coder', actionId: id };
}

it('writes an event that a recorder of the same tenant delivers, once for each id', async () => {
  const errors: Error[] = [];
  const options = {
    client,
    framework: 'coder',
    sdk: 'test/1.0.0',
    onError: (error: Error) => errors.push(error),
  };
  const eventId = createEventId(Date.now());
  const event = { ...call, eventId, sessionId: eventId, responseStatus: 200, atMs: Date.now() };
  for (let process = 0; process < 2; process += 1) {
    const writer = new SpoolWriter(options);
    expect(writer.hasWritten).toBe(false);
    expect(writer.write(event)).toBe(true);
    expect(writer.hasWritten).toBe(true);
    writer.close();
  }
  expect(readdirSync(tenantSpoolFolder(client)).filter((name) => name.endsWith('.released'))).toHaveLength(2);
  await using recorder = new Recorder({ client });
  expect(await recorder.flush()).toMatchObject({ delivered: 2, pending: 0 });
  const events = await client.sessions.events(eventId).toArray({ limit: 10 });
  expect(events).toMatchObject([{ eventId, agentId: 'coder', payload: { toolName: 'Bash', argumentsHash } }]);
  expect(errors).toEqual([]);
});

it('reports an event that cannot be written', () => {
  const file = join(root, 'file');
  writeFileSync(file, '');
  vi.stubEnv('ACTLOG_SPOOL_DIR', join(file, 'spool'));
  const onError = vi.fn();
  const writer = new SpoolWriter({ client, framework: 'coder', sdk: 'test/1.0.0', onError });
  const eventId = createEventId(Date.now());
  expect(writer.write({ ...call, eventId, sessionId: 's', responseStatus: 200, atMs: 0 })).toBe(false);
  expect(onError).toHaveBeenCalledWith(
    expect.objectContaining({ message: expect.stringContaining('ENOTDIR') }),
  );
});

it('admits and denies calls by the policies of the service', async () => {
  const guard = new CallGuard({ mode: 'enforce', onUnavailable: 'deny' }, client.policies, () => {});
  expect([guard.isEnforcing, guard.isFailClosed]).toEqual([true, true]);
  await guard.admit(newCheck(), hashArguments);
  const { id } = await client.policies.create({ name: 'no', effect: 'deny', match: { tools: ['Bash'] } });
  await expect(guard.admit(newCheck(), hashArguments)).rejects.toMatchObject({
    because: 'denied',
    policyId: id,
  });
  await client.policies.archive(id);
});

it('follows onUnavailable without a service', async () => {
  const deny = new CallGuard({ mode: 'enforce', onUnavailable: 'deny' }, undefined, () => {});
  const allow = new CallGuard({ mode: 'enforce', onUnavailable: 'allow' }, undefined, () => {});
  await expect(deny.admit(newCheck(), hashArguments)).rejects.toMatchObject({ because: 'unavailable' });
  await allow.admit(newCheck(), hashArguments);
  expect(allow.isFailClosed).toBe(false);
});
