import { limits } from '@actlog/protocol';
import { expect, test } from 'vitest';
import { testServer } from './test-server.ts';

/** Twice this is too much for one agent. Each character has two bytes. */
const half = 'é'.repeat(limits.maxBodyBytes / 4);

test('limits metadata that grows with each change', async () => {
  const server = await testServer();
  const { id } = await server.ok('agents.create', { body: { name: 'A', metadata: { first: 'x' } } });
  await server.ok('agents.update', { id, body: { metadata: { second: half } } });
  const error = await server.refused('agents.update', { id, body: { name: 'B', metadata: { third: half } } });
  expect(error).toMatchObject({
    status: 400,
    code: 'VALIDATION_ERROR',
    message: 'metadata: exceeds 256 KiB with this change; set members to null to remove them.',
    details: [{ path: 'metadata', code: 'too_big' }],
  });
  expect(await server.ok('agents.get', { id })).toMatchObject({
    name: 'A',
    metadata: { first: 'x', second: half },
  });
  await server.ok('agents.update', { id, body: { metadata: { second: null, third: half } } });
});

test('accepts metadata at its limit, and not one byte more', async () => {
  const server = await testServer();
  const { id } = await server.ok('agents.create', { body: { name: 'A', metadata: { first: half } } });
  const room = limits.maxBodyBytes - JSON.stringify({ first: '', second: '' }).length - 2 * half.length;
  const second = 'x'.repeat(room);
  await server.refused('agents.update', { id, body: { metadata: { second: `${second}x` } } });
  await server.ok('agents.update', { id, body: { metadata: { second } } });
  await server.ok('agents.update', { id, body: { name: 'B' } });
  await server.refused('agents.update', { id, body: { metadata: { third: 1 } } });
  await server.ok('agents.update', { id, body: { metadata: null } });
});
