import { createHash } from 'node:crypto';
import { createWriteStream, mkdtempSync, readFileSync, rmSync, truncateSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { buffer } from 'node:stream/consumers';
import { pipeline } from 'node:stream/promises';
import { readFeed } from '@actlog/client/server';
import { afterAll, beforeAll, expect, test, vi } from 'vitest';
import yauzl from 'yauzl';
import { ZipFile } from 'yazl';
import { actlog } from './command-line.ts';
import { TestService } from './test-service.ts';

let service: TestService;
let folder: string;
let key: string;
/** Times between the records: before all, and after the first session. */
let middle: string;
const range = { since: '2020-01-01', until: '2100-01-01' };

beforeAll(async () => {
  service = await TestService.start();
  folder = mkdtempSync(join(tmpdir(), 'actlog-evidence-'));
  const { client, server } = service;
  await service.record('order-1', ['search', 'refund']);
  const { id } = await client.policies.create({
    name: 'refunds',
    effect: 'allow',
    match: { tools: ['refund'] },
  });
  await service.record('gone', ['search']);
  const logged = async () => {
    let last = 0;
    for await (const record of readFeed(client))
      last = Date.parse(String(record.row.receivedAt ?? record.row.at)) || last;
    return last;
  };
  await until(async () => (await countRecords()) === 4);
  // The next records have a later time.
  while (Date.now() <= (await logged()));
  middle = new Date().toISOString();
  await client.policies.update(id, { message: 'x'.repeat(900) });
  await client.policies.check({
    agentId: 'billing',
    sessionId: 'order-2',
    action: { toolName: 'refund', argumentsHash: 'sha256:00' },
  });
  const held = await service.hold('wipe');
  await client.guardian.pendingActions.decide(held, { decision: 'deny' });
  await service.record('order-2', ['refund'], 'other');
  await server.admin.legalHolds.create('default', { name: 'Case 4711', sessionId: 'order-1' });
  await until(async () => (await countRecords()) >= 12);
  await server.admin.sessions.delete('default', 'gone', { erasure: 'Request 12' });
  await until(async () => (await kinds()).deletion === 1);
  await until(async () => (await kinds()).audit === 6);
  key = (await (await fetch(`${server.url}/log/default/key`)).text()).trim();
});

afterAll(async () => {
  await service?.close();
  rmSync(folder, { recursive: true });
});

/** Waits until the log has what a test needs. */
function until(isReached: () => Promise<boolean>): Promise<boolean> {
  return vi.waitUntil(isReached, { timeout: 20_000 });
}

async function kinds(): Promise<Record<string, number>> {
  const found: Record<string, number> = {};
  for await (const { kind } of readFeed(service.client)) found[kind] = (found[kind] ?? 0) + 1;
  return found;
}

async function countRecords(): Promise<number> {
  return Object.values(await kinds()).reduce((sum, count) => sum + count, 0);
}

/** Makes an archive, and returns its path. */
async function archive(name: string, ...args: string[]): Promise<string> {
  const out = join(folder, name);
  const made = await actlog(['evidence', '--out', out, ...args], { env: service.env });
  expect(made).toMatchObject({ exitCode: 0 });
  return out;
}

const whole = ['--since', range.since, '--until', range.until];
const verify = (path: string, ...args: string[]) => actlog(['log', 'verify', path, '--key', key, ...args]);

/** Returns the files of an archive. */
async function unpacked(path: string): Promise<Map<string, string>> {
  const files = new Map<string, string>();
  const zip = await yauzl.openPromise(path);
  for await (const entry of zip.eachEntry()) {
    files.set(entry.fileName, (await buffer(await zip.openReadStreamPromise(entry))).toString());
  }
  return files;
}

/** Writes an archive with files; the manifest is made to fit unless it is given. */
async function packed(name: string, files: Map<string, string>, fits = true): Promise<string> {
  const path = join(folder, name);
  const manifest = JSON.parse(files.get('manifest.json') as string);
  if (fits) {
    for (const file of manifest.files) {
      const content = files.get(file.name) ?? '';
      file.bytes = Buffer.byteLength(content);
      file.lines = file.name === 'checkpoint.txt' ? 1 : content.split('\n').length - 1;
      file.sha256 = createHash('sha256').update(content).digest('hex');
    }
  }
  const zip = new ZipFile();
  for (const [member, content] of files) {
    zip.addBuffer(Buffer.from(member === 'manifest.json' ? JSON.stringify(manifest) : content), member);
  }
  zip.end();
  await pipeline(zip.outputStream, createWriteStream(path));
  return path;
}

/** Changes the lines of a file of an archive. */
function edit(files: Map<string, string>, name: string, change: (lines: string[]) => string[]): void {
  const lines = (files.get(name) as string).trimEnd().split('\n');
  files.set(
    name,
    change(lines)
      .map((line) => `${line}\n`)
      .join(''),
  );
}

test('proves that a period is complete, with its policies, holds, retention and deletions', async () => {
  const path = await archive('whole.zip', ...whole);
  const { stdout, exitCode } = await verify(path);
  expect(stdout).toMatch(
    /The period is complete: it has entries 0 to \d+ of the log, and each is here or was deleted as the log says; the log begins with it, and the log ends with it\./,
  );
  expect(stdout).toContain('1 record was deleted, as the log says.');
  expect(stdout).toContain(
    '3 versions of policies were in force; 3 of them are proven by a change in the log.',
  );
  expect(stdout).toMatch(/Proven\.\n$/);
  expect(exitCode).toBe(0);
  const files = await unpacked(path);
  expect(JSON.parse(files.get('manifest.json') as string)).toMatchObject({
    format: 'actlog evidence 1',
    service: { tenant: 'default', keys: [key] },
    counts: { events: 5, decisions: 2, approvals: 1, deletions: 1, policies: 3, 'legal holds': 1 },
  });
  expect(files.get('legal-holds.jsonl')).toContain('"Case 4711"');
  expect(files.get('retention.jsonl')).toContain('"class":"decisions","days":183,"floorDays":183');
});

test('begins a period after the record before it', async () => {
  const path = await archive('second.zip', '--since', middle, '--until', range.until);
  const { stdout, exitCode } = await verify(path);
  expect(stdout).toMatch(/the record before is of 2\d{3}-.*Z, and the log ends with it/);
  expect(exitCode).toBe(0);
  const files = await unpacked(path);
  expect(files.get('events.jsonl')).not.toContain('"order-1"');
  // A policy of before the period that was in force, and what proves it.
  expect(files.get('policies.jsonl')?.trimEnd().split('\n')).toHaveLength(3);

  const first = await archive('first.zip', '--since', range.since, '--until', middle);
  expect((await verify(first)).stdout).toMatch(/the log begins with it, and the record after is of 2/);
  expect((await unpacked(first)).get('deletions.jsonl')).toBe('');
  // The later deletion explains an entry of the period.
  expect((await unpacked(first)).get('supporting.jsonl')).toContain('Request 12');
  // An operator who moves the begin over an entry must show the entry before it.
  files.set(
    'manifest.json',
    (files.get('manifest.json') as string).replace(/"since": "[^"]*"/, '"since": "2020-01-01T00:00:00.000Z"'),
  );
  const moved = await verify(await packed('moved.zip', files));
  expect(moved.stdout).toMatch(/period-incomplete: Entry \d+, before its first one, is within the period\./);
  expect(moved.exitCode).toBe(1);
});

test('says what a filter leaves unproven', async () => {
  const path = await archive('filtered.zip', ...whole, '--agent', 'other');
  const { stdout, exitCode } = await verify(path);
  expect(stdout).toMatch(
    /Filtered by agent other: each record is proven, but not that there are no others\. \d+ entries of the period were left out/,
  );
  expect(stdout).not.toContain('complete');
  expect(exitCode).toBe(0);
  const files = await unpacked(path);
  expect(files.get('events.jsonl')?.trimEnd().split('\n')).toHaveLength(1);
});

test.each([
  [
    'a changed row',
    (files: Map<string, string>) =>
      edit(files, 'events.jsonl', ([first = '', ...rest]) => [first.replace('"search"', '"read"'), ...rest]),
    /record-changed: The event "[^"]+": .* was changed\./,
  ],
  [
    'a removed row',
    (files: Map<string, string>) => edit(files, 'decisions.jsonl', ([, ...rest]) => rest),
    /record-missing: Entry \d+ is of the period, but its record is not in the evidence, and no deletion was logged\./,
  ],
  [
    'a receipt of another row',
    (files: Map<string, string>) =>
      edit(files, 'events.jsonl', ([first = '', second = '', ...rest]) => {
        const { proof } = JSON.parse(second);
        return [JSON.stringify({ ...JSON.parse(first), proof }), second, ...rest];
      }),
    /record-changed: The event "[^"]+" is not entry \d+|record-changed: The event "[^"]+": The event/,
  ],
  [
    'a changed policy',
    (files: Map<string, string>) =>
      edit(files, 'policies.jsonl', ([first = '', ...rest]) => [first.replace('"allow"', '"deny"'), ...rest]),
    /policy-changed: Version \d of the policy pol_/,
  ],
  [
    'an archive that leaves out the deletion of a record',
    (files: Map<string, string>) => files.set('deletions.jsonl', ''),
    /record-missing: Entr/,
  ],
])('names %s, also if the manifest is made to fit', async (name, tamper, message) => {
  const files = await unpacked(await archive(`${name}.zip`, ...whole));
  tamper(files);
  const { stdout, exitCode } = await verify(await packed(`${name} tampered.zip`, files));
  expect(stdout).toMatch(message);
  expect(stdout).toMatch(/NOT proven/);
  expect(exitCode).toBe(1);
  const unfit = await verify(await packed(`${name} unfit.zip`, files, false));
  expect(unfit.stdout).toMatch(
    /archive-changed: "[a-z]+\.jsonl" is not the file that the manifest describes\./,
  );
  expect(unfit.exitCode).toBe(1);
});

test('names a swapped checkpoint', async () => {
  const files = await unpacked(await archive('earlier.zip', ...whole));
  await service.record('order-3', ['search']);
  await expect.poll(async () => (await kinds()).event).toBe(6);
  const later = await unpacked(await archive('later.zip', ...whole));
  files.set('checkpoint.txt', later.get('checkpoint.txt') as string);
  const { stdout, exitCode } = await verify(await packed('swapped.zip', files));
  expect(stdout).toContain('checkpoint-changed: The receipt of the ');
  expect(exitCode).toBe(1);
  const forged = (files.get('checkpoint.txt') as string).replace(/^\d+$/m, '99');
  files.set('checkpoint.txt', forged);
  expect((await verify(await packed('forged.zip', files))).stdout).toContain('checkpoint-untrusted: ');
});

test('refuses hostile and damaged archives', async () => {
  const path = await archive('good.zip', ...whole);
  const bytes = readFileSync(path);
  const cut = join(folder, 'cut.zip');
  for (const size of [bytes.length - 1, Math.floor(bytes.length / 2), 10]) {
    writeFileSync(cut, bytes);
    truncateSync(cut, size);
    const { stdout, exitCode } = await verify(cut);
    expect(stdout).toMatch(/^archive-damaged: The archive cannot be read; it was cut or changed/);
    expect(exitCode).toBe(1);
  }
  const files = await unpacked(path);
  const refused = async (change: (zip: ZipFile) => void) => {
    const zip = new ZipFile();
    for (const [name, content] of files) zip.addBuffer(Buffer.from(content), name);
    change(zip);
    zip.end();
    const hostile = join(folder, 'hostile.zip');
    await pipeline(zip.outputStream, createWriteStream(hostile));
    const { stdout, exitCode } = await verify(hostile, '--json');
    expect(exitCode).toBe(1);
    return JSON.parse(stdout).findings[0].message as string;
  };
  expect(await refused((zip) => zip.addBuffer(Buffer.from('x'), 'notes.txt'))).toContain('has 13 members');
  files.delete('retention.jsonl');
  expect(await refused(() => {})).toBe('The archive lacks "retention.jsonl".');
  expect(await refused((zip) => zip.addBuffer(Buffer.from('x'), 'events.jsonl'))).toContain(
    '"events.jsonl" twice',
  );
  expect(await refused((zip) => zip.addBuffer(Buffer.from('x'), 'sub/retention.jsonl'))).toContain(
    'has the member "sub/retention.jsonl"',
  );
  expect(await refused((zip) => zip.addBuffer(Buffer.alloc(5_000_000), 'retention.jsonl'))).toContain(
    'as in a ZIP bomb',
  );
  // A name that leaves the folder: the library that writes archives refuses it, so its bytes are changed.
  const traversing = Buffer.from(
    bytes.toString('latin1').replaceAll('retention.jsonl', '../../xyz.jsonl'),
    'latin1',
  );
  writeFileSync(join(folder, 'traversing.zip'), traversing);
  expect((await verify(join(folder, 'traversing.zip'))).stdout).toMatch(
    /^archive-refused: .*\.\.\/\.\.\/xyz\.jsonl/,
  );
});

test('refuses an empty period and a file that exists, and lets only administrators make evidence', async () => {
  const make = (...args: string[]) =>
    actlog(['evidence', '--out', join(folder, 'x.zip'), ...args], { env: service.env });
  expect(await make('--since', '2026-02-01', '--until', '2026-01-01')).toMatchObject({ exitCode: 2 });
  writeFileSync(join(folder, 'exists.zip'), '');
  const exists = await actlog(['evidence', '--out', join(folder, 'exists.zip'), ...whole], {
    env: service.env,
  });
  expect(exists).toMatchObject({
    exitCode: 2,
    stderr: expect.stringContaining('exists; choose another name'),
  });
  const agent = await actlog(['evidence', '--out', join(folder, 'y.zip'), ...whole], {
    env: service.agentEnv,
  });
  expect(agent).toMatchObject({ exitCode: 4 });
});
