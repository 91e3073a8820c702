import { expect, test } from 'vitest';
import { auditEntries } from '../audit-entries.ts';
import { SignedIn, signInSetup } from './sign-in-setup.ts';

test('the audit log names people who sign in, sign out and are signed out', async () => {
  const { server, url } = await signInSetup();
  const ada = await SignedIn.as('ada', url);
  const grace = await SignedIn.as('grace', url);
  const signIns = await ada.send('GET', '/console/api/sign-ins');
  const { items } = (await signIns.json()) as { items: { id: string; name: string; userId: string }[] };
  const ofGrace = items.find(({ name }) => name === 'grace@example.com');
  expect((await ada.send('DELETE', `/console/api/sign-ins/${ofGrace?.id}`)).status).toBe(200);
  expect((await grace.send('GET', '/v1/agents')).status).toBe(401);
  expect((await ada.send('POST', '/console/api/sign-out')).status).toBe(200);
  const actor = (name: string) => ({
    kind: 'person',
    id: items.find((one) => one.name === name)?.userId,
    name,
    principal: name,
  });
  const [adaActor, graceActor] = [actor('ada@example.com'), actor('grace@example.com')];
  const graceTarget = { kind: 'sign_in', id: graceActor.id, name: 'grace@example.com' };
  expect(await auditEntries(server)).toMatchObject([
    { action: 'sign_in.ended', actor: adaActor, target: { id: adaActor.id }, changes: [] },
    { action: 'sign_in.ended', actor: adaActor, target: graceTarget, changes: [] },
    { action: 'sign_in.created', actor: graceActor, changes: [{ field: 'role', after: 'approver' }] },
    { action: 'sign_in.created', actor: adaActor, changes: [{ field: 'role', after: 'admin' }] },
  ]);
});

test('the audit log names the person behind a change', async () => {
  const { server, url } = await signInSetup();
  const ada = await SignedIn.as('ada', url);
  const created = await ada.send('POST', '/v1/policies', { name: 'p', effect: 'deny' });
  expect(created.status).toBe(201);
  const [entry] = await auditEntries(server);
  expect(entry).toMatchObject({
    action: 'policy.created',
    actor: { kind: 'person', name: 'ada@example.com', principal: 'ada@example.com' },
  });
  const listed = await ada.send('GET', `/server/v1/audit?actor=${entry?.actor.id}&targetKind=policy`);
  expect(await listed.json()).toMatchObject({ items: [{ id: entry?.id }] });
});
