import { afterEach, beforeEach, expect, test, vi } from 'vitest';
import { deleteExpiredData } from '../../src/background/background-tasks.ts';
import { openStorage } from '../../src/open-storage.ts';
import type { Storage } from '../../src/storage/storage.ts';
import { DeploymentSecret } from '../../src/tenants/deployment-secret.ts';
import { ensureTenant } from '../../src/tenants/provisioning.ts';
import { SignIns } from '../../src/users/sign-ins.ts';
import { testSecret, withTestDatabase } from '../test-database.ts';
import { atTestEnd } from '../test-end.ts';

const minuteMs = 60_000;
const lifetimes = { idleMs: 60 * minuteMs, maxMs: 120 * minuteMs };

let storage: Storage;
let tenantId: number;

beforeEach(async () => {
  const { database = ':memory:' } = await withTestDatabase({});
  storage = await openStorage({ database, connections: 2 });
  atTestEnd(() => storage.close());
  tenantId = await storage.writeAcross('administer', ({ db }) => ensureTenant(db, 'one'));
});

afterEach(() => {
  vi.useRealTimers();
});

/** Returns the sign-ins as one process of the deployment sees them. */
function inProcess(): SignIns {
  return new SignIns(storage, new DeploymentSecret(testSecret), lifetimes);
}

function create(signIns: SignIns, idToken?: string): Promise<string> {
  const person = {
    tenantId,
    userId: 'usr_1',
    name: 'ada',
    role: 'viewer',
    groups: [],
    email: undefined,
    idToken,
  } as const;
  return signIns.create(person, async () => {});
}

function pass(minutes: number): void {
  vi.useFakeTimers({ toFake: ['Date'], now: Date.now() + minutes * minuteMs });
}

async function stored(): Promise<number> {
  const rows = await storage.read(tenantId, (db) => db.selectFrom('sign_ins').select('id').execute());
  return rows.length;
}

test('a use in one process keeps the sign-in in another', async () => {
  const [one, two] = [inProcess(), inProcess()];
  const secret = await create(one);
  pass(40);
  expect(await one.find(secret)).toMatchObject({ id: 'usr_1', user: { name: 'ada', role: 'viewer' } });
  pass(40);
  expect(await two.find(secret)).toMatchObject({ id: 'usr_1' });
  pass(40);
  expect(await two.find(secret)).toBeUndefined();
});

test('the ID token is returned once, when the sign-in ends', async () => {
  const signIns = inProcess();
  const secret = await create(signIns, 'header.payload.signature');
  const signIn = (await signIns.find(secret))?.user?.signIn;
  const { id = '', digest = '' } = signIn ?? {};
  const end = () => inProcess().end(tenantId, id, async () => {});
  expect(await end()).toEqual({ isKnown: true, idToken: 'header.payload.signature' });
  expect(await end()).toEqual({ isKnown: false });
  pass(1);
  expect(await signIns.isCurrent(digest)).toBe(false);
  expect(await signIns.find(secret)).toBeUndefined();
});

test('the cleanup deletes sign-ins that have ended, and no others', async () => {
  const signIns = inProcess();
  await create(signIns);
  pass(60);
  await create(signIns);
  pass(61);
  await deleteExpiredData(storage, Date.now());
  expect(await stored()).toBe(1);
  pass(60);
  await deleteExpiredData(storage, Date.now());
  expect(await stored()).toBe(0);
});
