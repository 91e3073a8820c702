import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { describe, expect, onTestFinished, test } from 'vitest';
import type { MemoryTiles } from '../tests/memory-tiles.ts';
import { TestLog } from '../tests/test-log.ts';
import type { RecordToVerify } from './compare-records.ts';
import { httpLog } from './log-source.ts';
import { parsePolicy, trustPolicy } from './policy.ts';
import { createKey, parseSignerKey } from './signed-note.ts';
import { parseTilePath, type Tile, tilePath } from './tiles.ts';
import { type EarlierLog, type VerifyLogOptions, verifyLog, verifyRecords } from './verify-log.ts';

async function logOf(count: number): Promise<TestLog> {
  const log = new TestLog();
  await log.appendEvents(count);
  return log;
}

function policyOf(log: TestLog) {
  return trustPolicy(log.key.verifierKey.text, { witnesses: [log.witness.verifierKey.text] });
}

function verify(log: TestLog, options: Partial<VerifyLogOptions> = {}) {
  return verifyLog(log, { policy: policyOf(log), records: log.records, isComplete: true, ...options });
}

/** Changes a byte of a stored tile. */
function damage(tiles: MemoryTiles, path: string, at: number): void {
  const bytes = Uint8Array.from(tiles.files.get(path) as Uint8Array);
  bytes[at] = (bytes[at] as number) ^ 1;
  tiles.files.set(path, bytes);
}

function withRow(records: readonly RecordToVerify[], index: number, row: unknown): RecordToVerify[] {
  return records.with(index, { ...(records[index] as RecordToVerify), row });
}

describe('an intact log', () => {
  test.each([1, 255, 256, 257, 600, 65_800])('is proven with %i entries', async (count) => {
    const log = await logOf(count);
    log.tiles.dropReplacedTiles();
    expect(await verify(log)).toEqual({
      origin: 'log.example/acme',
      size: count,
      isProven: true,
      witnessed: [{ size: count, time: 1_700_000_000, witness: 'witness.example' }],
      records: count,
      deleted: 0,
      findings: [],
      hasMoreFindings: false,
    });
  });

  test('is proven without entries', async () => {
    const log = new TestLog();
    await log.append([]);
    expect(await verify(log)).toMatchObject({ size: 0, isProven: true });
  });

  test('is proven since the first cosignature of the checkpoints that it continues', async () => {
    const log = await logOf(10);
    const first = log.checkpoint as string;
    await log.appendEvents(500, 1_700_000_600);
    const report = await verify(log, { earlier: [{ checkpoint: first }] });
    expect(report).toMatchObject({ isProven: true });
    expect(report.witnessed).toEqual([
      { size: 10, time: 1_700_000_000, witness: 'witness.example' },
      { size: 510, time: 1_700_000_600, witness: 'witness.example' },
    ]);
  });

  test('may lack records that it has the deletion of', async () => {
    const log = await logOf(10);
    await log.append([
      {
        kind: 'deletion',
        id: 'del_1',
        row: {
          reason: 'retention',
          entries: [
            [2, 4],
            [7, 7],
          ],
        },
      },
    ]);
    const records = log.records.filter((_, index) => ![2, 3, 4, 7].includes(index));
    expect(await verify(log, { records })).toMatchObject({ isProven: true, deleted: 4, records: 7 });
  });

  test('is verified over HTTP', async () => {
    const log = await logOf(600);
    const server = createServer(async (request, response) => {
      const path = (request.url ?? '').replace('/log/acme/', '');
      const body = path === 'checkpoint' ? log.checkpoint : await log.tiles.readTile(parseTilePath(path));
      response.writeHead(body === undefined ? 404 : 200).end(body);
    });
    await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
    onTestFinished(() => void server.close());
    const url = `http://127.0.0.1:${(server.address() as AddressInfo).port}/log/acme/`;
    const options = { policy: policyOf(log), records: log.records, isComplete: true };
    expect(await verifyLog(httpLog(url), options)).toMatchObject({ isProven: true, size: 600 });
    log.tiles.files.delete('tile/entries/001');
    expect(await verifyLog(httpLog(url), options)).toMatchObject({
      findings: [{ code: 'tile-missing', entries: [256, 511] }],
    });
  });
});

describe('what was done to the records', () => {
  test('names a changed record', async () => {
    const log = await logOf(300);
    const records = withRow(log.records, 41, { tool: 'search', number: 42 });
    expect(await verify(log, { records })).toMatchObject({
      isProven: false,
      records: 299,
      findings: [
        {
          code: 'record-changed',
          entries: [41, 41],
          record: { kind: 'event', id: 'evt_41' },
          message:
            'The event "evt_41" is not what was logged as entry 41: the record or its salt was changed.',
        },
      ],
    });
  });

  test('names deleted records', async () => {
    const log = await logOf(300);
    const records = log.records.filter((_, index) => index !== 5 && (index < 7 || index > 9));
    expect((await verify(log, { records })).findings).toEqual([
      {
        code: 'record-missing',
        entries: [5, 5],
        message: 'Entry 5 is in the log without a record, and no deletion was logged.',
      },
      {
        code: 'record-missing',
        entries: [7, 9],
        message: 'Entries 7 to 9 are in the log without a record, and no deletion was logged.',
      },
    ]);
    expect(await verify(log, { records, isComplete: false })).toMatchObject({ isProven: true });
  });

  test('does not accept a deletion that is not in the log', async () => {
    const log = await logOf(10);
    const forged = { kind: 'deletion', id: 'del_1', row: { entries: [[0, 9]] } } as const;
    const records = [...log.records.slice(1), { ...forged, salt: log.records[0]?.salt as string, index: 0 }];
    expect((await verify(log, { records })).findings).toMatchObject([
      { code: 'record-changed', entries: [0, 0] },
    ]);
  });

  test('names records that are there although their deletion was logged', async () => {
    const log = await logOf(10);
    await log.append([{ kind: 'deletion', id: 'del_1', row: { entries: [[2, 4]] } }]);
    expect((await verify(log)).findings).toMatchObject([{ code: 'record-undeleted', entries: [2, 4] }]);
  });

  test('names two records that changed places', async () => {
    const log = await logOf(10);
    const [first, second] = log.records as [RecordToVerify, RecordToVerify];
    const records = [{ ...first, index: 1 }, { ...second, index: 0 }, ...log.records.slice(2)];
    expect((await verify(log, { records })).findings).toMatchObject([
      { code: 'record-changed', entries: [1, 1] },
      { code: 'record-changed', entries: [0, 0] },
    ]);
  });

  test('names records that cannot be read', async () => {
    const log = await logOf(10);
    const bad = { ...(log.records[0] as RecordToVerify), index: -1 };
    const badSalt = { ...(log.records[1] as RecordToVerify), salt: '?' };
    const report = await verify(log, { records: [bad, badSalt, ...log.records.slice(2)], isComplete: false });
    expect(report.findings).toMatchObject([
      { code: 'receipt-invalid' },
      { code: 'record-changed', entries: [1, 1] },
    ]);
  });
});

describe('what was done to the log', () => {
  test('names an entry that was changed in its bundle', async () => {
    const log = await logOf(600);
    damage(log.tiles, 'tile/entries/001', 34 * 44 + 10);
    expect((await verify(log)).findings).toEqual([
      {
        code: 'entry-changed',
        entries: [300, 300],
        message: 'Entry 300 in tile/entries/001 is not the one that tile/0/001 has.',
      },
    ]);
  });

  test('names the entries of a tile that was changed', async () => {
    const log = await logOf(600);
    damage(log.tiles, 'tile/0/001', 32 * 44);
    expect((await verify(log)).findings).toMatchObject([
      {
        code: 'tile-changed',
        entries: [256, 511],
        message:
          'tile/0/001 does not fit its hash in tile/1/000.p/2: of entries 256 to 511, at least one was changed.',
      },
      { code: 'entry-changed', entries: [300, 300] },
      { code: 'record-changed', entries: [300, 300] },
    ]);
  });

  test('finds a change at the right edge', async () => {
    const log = await logOf(600);
    damage(log.tiles, 'tile/0/002.p/88', 32 * 3);
    const codes = (await verify(log)).findings.map(({ code, entries }) => [code, entries]);
    expect(codes).toEqual([
      ['tile-changed', [0, 599]],
      ['entry-changed', [515, 515]],
      ['record-changed', [515, 515]],
    ]);
  });

  test.each(['tile/0/000', 'tile/0/002.p/88', 'tile/1/000.p/2', 'tile/entries/000', 'tile/entries/002.p/88'])(
    'names the missing %s',
    async (path) => {
      const log = await logOf(600);
      log.tiles.files.delete(path);
      const { findings } = await verify(log, { records: [], isComplete: false });
      expect(findings).toMatchObject([
        { code: 'tile-missing', message: `${path} is missing; restore it from a copy of the log.` },
      ]);
    },
  );

  test('names a tile that was cut', async () => {
    const log = await logOf(600);
    log.tiles.files.set('tile/0/000', Buffer.alloc(8191));
    expect((await verify(log, { records: [], isComplete: false })).findings).toMatchObject([
      { code: 'tile-changed', entries: [0, 255] },
    ]);
  });

  test('finds a log that was rewritten as a whole, by a checkpoint that someone kept', async () => {
    const log = await logOf(400);
    const earlier = { checkpoint: log.checkpoint as string, tiles: log.tiles };
    // The operator has the key, and replaces a record with everything that depends on it.
    const rewritten = new TestLog(log.key);
    await rewritten.append(withRow(log.records, 123, { tool: 'nothing' }));
    await rewritten.appendEvents(50);
    const policy = trustPolicy(log.key.verifierKey.text);
    const options = { policy, records: rewritten.records, isComplete: true };
    expect(await verifyLog(rewritten, options)).toMatchObject({ isProven: true });

    const kept = { ...options, earlier: [{ checkpoint: earlier.checkpoint }] };
    const message = 'The log does not begin with the 400 entries that it had signed before.';
    expect((await verifyLog(rewritten, kept)).findings).toEqual([{ code: 'rewritten', message }]);
    expect((await verifyLog(rewritten, { ...options, earlier: [earlier] })).findings).toEqual([
      { code: 'rewritten', entries: [123, 399], message: `${message} The first entry that differs is 123.` },
    ]);
  });

  test('finds two histories of one size, and the first entry that differs', async () => {
    const log = await logOf(10);
    const other = new TestLog(log.key);
    await other.appendEvents(10);
    const { findings } = await verifyLog(other, {
      policy: trustPolicy(log.key.verifierKey.text),
      earlier: [{ checkpoint: log.checkpoint as string, tiles: log.tiles }],
    });
    expect(findings).toEqual([
      {
        code: 'two-histories',
        entries: [0, 9],
        message:
          'log.example/acme has signed two different trees of 10 entries: it shows different records to different readers. The first entry that differs is 0.',
      },
    ]);
  });

  test('finds an old backup that was restored', async () => {
    const log = await logOf(10);
    const backup = { readCheckpoint: async () => backupCheckpoint, tiles: log.copyTiles() };
    const backupCheckpoint = log.checkpoint;
    await log.appendEvents(5);
    const { findings } = await verifyLog(backup, {
      policy: policyOf(log),
      earlier: [{ checkpoint: log.checkpoint as string, tiles: log.tiles }],
    });
    expect(findings).toEqual([
      {
        code: 'rolled-back',
        entries: [10, 14],
        message:
          'The log has 10 entries, but had signed 15 before: an old backup was restored, or entries 10 to 14 were removed.',
      },
    ]);
  });

  test('finds an old backup by the receipt of a later record', async () => {
    const log = await logOf(10);
    const backup = { readCheckpoint: async () => old, tiles: log.copyTiles() };
    const old = log.checkpoint;
    await log.appendEvents(5);
    const record = { ...(log.records[12] as RecordToVerify), ...(await log.receipt(12)) };
    expect((await verifyLog(backup, { policy: policyOf(log), records: [record] })).findings).toMatchObject([
      {
        code: 'rolled-back',
        entries: [12, 12],
        message: 'The event "evt_12" is entry 12, but the log has 10 entries.',
      },
    ]);
  });

  test('finds a checkpoint that is missing, not signed by the log, or not cosigned', async () => {
    const log = await logOf(3);
    expect(await verifyLog(new TestLog(log.key), { policy: policyOf(log) })).toMatchObject({
      origin: undefined,
      findings: [{ code: 'checkpoint-untrusted', message: 'The log has no checkpoint.' }],
    });
    const foreign = trustPolicy(createKey('log.example/acme').verifierKey);
    expect((await verifyLog(log, { policy: foreign })).findings).toMatchObject([
      { code: 'checkpoint-untrusted' },
    ]);
    const strict = trustPolicy(log.key.verifierKey.text, {
      witnesses: [createKey('other.example', 'witness').verifierKey],
    });
    expect((await verifyLog(log, { policy: strict })).findings).toMatchObject([
      {
        code: 'checkpoint-untrusted',
        message: expect.stringContaining('needs cosignatures of 1 of (other.example)'),
      },
    ]);
    const garbage = [{ checkpoint: 'garbage' }];
    expect((await verifyLog(log, { policy: policyOf(log), earlier: garbage })).findings).toMatchObject([
      {
        code: 'checkpoint-untrusted',
        message: expect.stringContaining('The earlier checkpoint cannot be used'),
      },
    ]);
  });

  test('does not compare it with the checkpoint of another log', async () => {
    const log = await logOf(3);
    const other = new TestLog(parseSignerKey(createKey('log.example/other').signerKey));
    await other.appendEvents(2);
    const keys = [log, other].map(({ key }) => `log ${key.verifierKey.text}`);
    const policy = parsePolicy([...keys, 'quorum none'].join('\n'));
    const earlier = [{ checkpoint: other.checkpoint as string }];
    expect((await verifyLog(log, { policy, earlier })).findings).toEqual([
      {
        code: 'checkpoint-untrusted',
        message: 'The earlier checkpoint cannot be used: It is of the log "log.example/other".',
      },
    ]);
  });

  test.each([
    ['tile/0/000', 41],
    ['tile/0/001.p/44', 270],
  ])('finds a log that returns another %s the second time', async (path, index) => {
    const log = await logOf(300);
    // First the true tile, which fits the root, and then one that fits the changed record.
    const records = withRow(log.records, index, { tool: 'nothing' });
    const forged = new TestLog(log.key);
    await forged.append(records);
    let reads = 0;
    const readTile = async (tile: Tile) => {
      if (tilePath(tile) !== path) return log.tiles.readTile(tile);
      reads += 1;
      return (reads > 1 ? forged : log).tiles.readTile(tile);
    };
    const source = { readCheckpoint: async () => log.checkpoint, tiles: { readTile } };
    const { findings } = await verifyLog(source, { policy: policyOf(log), records, isComplete: true });
    const message = `${path} is another one each time that it is read.`;
    expect(findings).toEqual([{ code: 'tile-changed', message }]);
  });

  test('compares copies of different sizes, and names a tile of the earlier one that is missing', async () => {
    const log = await logOf(10);
    const checkpoint = log.checkpoint as string;
    const tiles = log.copyTiles();
    const rewritten = new TestLog(log.key);
    await rewritten.append(withRow(log.records, 3, {}));
    await rewritten.appendEvents(90);
    // As a copy that was made later has it.
    rewritten.tiles.files.delete('tile/0/000.p/10');
    const policy = trustPolicy(log.key.verifierKey.text);
    const verifyBy = (earlier: EarlierLog) => verifyLog(rewritten, { policy, earlier: [earlier] });
    expect((await verifyBy({ checkpoint, tiles })).findings).toMatchObject([
      { code: 'rewritten', entries: [3, 9] },
    ]);
    tiles.files.clear();
    expect((await verifyBy({ checkpoint, tiles })).findings).toMatchObject([
      { code: 'tile-missing', message: expect.stringContaining('tile/0/000.p/10') },
      { code: 'rewritten' },
    ]);
  });

  test('lists at most as many findings as demanded', async () => {
    const log = await logOf(10);
    const records = log.records.map((record) => ({ ...record, row: {} }));
    const report = await verify(log, { records, maxFindings: 3 });
    expect(report.findings).toHaveLength(3);
    expect(report.hasMoreFindings).toBe(true);
  });
});

describe('an export with receipts, without the log', () => {
  test('is verified offline', async () => {
    const log = await logOf(300);
    const records = await Promise.all(
      [0, 17, 299].map(async (index) => ({
        ...(log.records[index] as RecordToVerify),
        ...(await log.receipt(index)),
      })),
    );
    expect(await verifyRecords(records, { policy: policyOf(log) })).toMatchObject({
      origin: 'log.example/acme',
      size: 300,
      isProven: true,
      records: 3,
      witnessed: [{ size: 300, time: 1_700_000_000, witness: 'witness.example' }],
    });
    const changed = withRow(records, 1, {});
    expect(await verifyRecords(changed, { policy: policyOf(log) })).toMatchObject({
      records: 2,
      findings: [{ code: 'record-changed', record: { id: 'evt_17' } }],
    });
  });

  test('shows two histories that the log signed', async () => {
    const log = await logOf(3);
    const other = new TestLog(log.key);
    await other.appendEvents(3);
    const records = await Promise.all(
      [log, other].map(async (one) => ({ ...(one.records[0] as RecordToVerify), ...(await one.receipt(0)) })),
    );
    const policy = trustPolicy(log.key.verifierKey.text);
    expect((await verifyRecords(records, { policy })).findings).toMatchObject([{ code: 'two-histories' }]);
  });
});
