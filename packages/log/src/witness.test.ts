import { once } from 'node:events';
import { mkdtemp, readdir, rm, writeFile } from 'node:fs/promises';
import { createServer, type ServerResponse } from 'node:http';
import { type AddressInfo, connect } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { describe, expect, onTestFinished, test } from 'vitest';
import { MemoryTiles } from '../tests/memory-tiles.ts';
import { TestLog } from '../tests/test-log.ts';
import { formatAddCheckpoint, parseAddCheckpoint, requestCosignature } from './add-checkpoint.ts';
import { formatCheckpoint, openCheckpoint, signCheckpoint } from './checkpoint.ts';
import { WitnessFolder } from './log-folder.ts';
import { emptyRoot, leafHash } from './merkle.ts';
import { createKey, formatNote, parseNote, parseSignerKey, signText } from './signed-note.ts';
import { appendEntries, consistencyProof } from './tiles.ts';
import { nodeListener, originHash, Witness, type WitnessOptions } from './witness.ts';

async function temporaryFolder(): Promise<string> {
  const folder = await mkdtemp(join(tmpdir(), 'actlog-witness-'));
  onTestFinished(() => rm(folder, { recursive: true, force: true }));
  return folder;
}

async function witnessOf(log: TestLog, options: Partial<WitnessOptions> = {}) {
  const folder = await temporaryFolder();
  const key = parseSignerKey(createKey('witness.example', 'witness').signerKey);
  const create = () =>
    new Witness({
      key,
      logs: [log.key.verifierKey],
      store: new WitnessFolder(folder),
      now: () => 1_700_000_000_000,
      ...options,
    });
  return { witness: create(), key, folder, create };
}

async function post(witness: Witness, body: string) {
  const response = await witness.fetch(
    new Request('http://w/prefix/add-checkpoint', { method: 'POST', body }),
  );
  return { status: response.status, type: response.headers.get('content-type'), text: await response.text() };
}

/** Returns the request for the checkpoint of a log when it had a size. */
async function requestFor(log: TestLog, oldSize: number, size = log.size) {
  const tiles = new MemoryTiles();
  const { root } = await appendEntries(tiles, 0, log.entries.slice(0, size));
  const proof = oldSize <= size ? await consistencyProof(tiles, oldSize, size) : [];
  return { oldSize, proof, checkpoint: signCheckpoint(size, root, log.key) };
}

async function bodyFor(log: TestLog, oldSize: number, size?: number): Promise<string> {
  return formatAddCheckpoint(await requestFor(log, oldSize, size));
}

test('cosigns checkpoints that continue the last one', async () => {
  const log = new TestLog();
  await log.appendEvents(300);
  const { witness, key } = await witnessOf(log);
  for (const [oldSize, size] of [
    [0, 5],
    [5, 256],
    [256, 256],
    [256, 300],
  ] as const) {
    const request = await requestFor(log, oldSize, size);
    const { status, text } = await post(witness, formatAddCheckpoint(request));
    expect(status).toBe(200);
    const { signatures } = openCheckpoint(
      `${request.checkpoint}${text}`,
      [log.key.verifierKey],
      [key.verifierKey],
    );
    expect(signatures[1]).toEqual({ key: key.verifierKey, time: 1_700_000_000 });
  }
});

test('serves the last checkpoint that it cosigned, with the signatures of the log and its own', async () => {
  const log = new TestLog();
  await log.appendEvents(3);
  const { witness, key } = await witnessOf(log);
  const latest = () => witness.fetch(new Request(`http://w/${originHash(log.key.name)}/checkpoint`));
  expect((await latest()).status).toBe(404);
  const request = await requestFor(log, 0);
  const stranger = signText(
    parseNote(request.checkpoint).text,
    parseSignerKey(createKey('stranger').signerKey),
  );
  const note = parseNote(request.checkpoint);
  const checkpoint = formatNote({ ...note, signatures: [stranger, ...note.signatures] });
  await post(witness, formatAddCheckpoint({ ...request, checkpoint }));
  const served = parseNote(await (await latest()).text());
  expect(served.signatures.map(({ name }) => name)).toEqual([log.key.name, key.name]);
  expect((await witness.fetch(new Request(`http://w/${originHash('other')}/checkpoint`))).status).toBe(404);
});

describe('responses of C2SP tlog-witness', () => {
  test('409 with the size that it knows, for another old size', async () => {
    const log = new TestLog();
    await log.appendEvents(10);
    const { witness } = await witnessOf(log);
    expect(await post(witness, await bodyFor(log, 4))).toEqual({
      status: 409,
      type: 'text/x.tlog.size',
      text: '0\n',
    });
    await post(witness, await bodyFor(log, 0, 6));
    for (const [oldSize, size] of [
      [0, 10],
      [5, 10],
      [0, 3],
      [7, 10],
    ] as const) {
      expect(await post(witness, await bodyFor(log, oldSize, size))).toMatchObject({
        status: 409,
        text: '6\n',
      });
    }
  });

  test('422 for a history that was rewritten, and evidence of it', async () => {
    const log = new TestLog();
    await log.appendEvents(10);
    const refused: unknown[] = [];
    const { witness } = await witnessOf(log, { onRefused: (one) => refused.push(one) });
    await post(witness, await bodyFor(log, 0));
    const rewritten = new TestLog(log.key);
    await rewritten.append(log.records.with(4, { kind: 'event', id: 'evt_4', row: {} } as never));
    const sameSize = await requestFor(rewritten, 10);
    expect(await post(witness, formatAddCheckpoint(sameSize))).toMatchObject({
      status: 422,
      text: 'Two trees of 10 entries have different roots.\n',
    });
    await rewritten.appendEvents(5);
    expect(await post(witness, await bodyFor(rewritten, 10))).toMatchObject({ status: 422 });
    expect(refused).toHaveLength(2);
    expect(refused[0]).toMatchObject({ checkpoint: sameSize.checkpoint });
    await log.appendEvents(5);
    expect(await post(witness, await bodyFor(log, 10))).toMatchObject({ status: 200 });
  });

  test('422 for a wrong proof, a proof from nothing, and a wrong root of nothing', async () => {
    const log = new TestLog();
    await log.appendEvents(10);
    const { witness } = await witnessOf(log);
    const first = await requestFor(log, 0, 5);
    expect(await post(witness, formatAddCheckpoint({ ...first, proof: [emptyRoot] }))).toMatchObject({
      status: 422,
    });
    const wrongNothing = signCheckpoint(0, leafHash(Buffer.from('a')), log.key);
    expect(
      await post(witness, formatAddCheckpoint({ oldSize: 0, proof: [], checkpoint: wrongNothing })),
    ).toMatchObject({
      status: 422,
    });
    await post(witness, formatAddCheckpoint(first));
    const second = await requestFor(log, 5, 10);
    for (const proof of [[], second.proof.slice(1), second.proof.with(0, emptyRoot)]) {
      expect(await post(witness, formatAddCheckpoint({ ...second, proof }))).toMatchObject({ status: 422 });
    }
  });

  test('cosigns a log without entries, and goes on from there', async () => {
    const log = new TestLog();
    await log.append([]);
    const { witness } = await witnessOf(log);
    expect(await post(witness, await bodyFor(log, 0))).toMatchObject({ status: 200 });
    await log.appendEvents(3);
    expect(await post(witness, await bodyFor(log, 0))).toMatchObject({ status: 200 });
  });

  test('404 for an unknown log', async () => {
    const log = new TestLog();
    await log.appendEvents(1);
    const { witness } = await witnessOf(log);
    const other = new TestLog(parseSignerKey(createKey('log.example/other').signerKey));
    await other.appendEvents(1);
    expect(await post(witness, await bodyFor(other, 0))).toMatchObject({ status: 404 });
  });

  test('403 without a signature of the log, or with one that does not fit', async () => {
    const log = new TestLog();
    await log.appendEvents(1);
    const { witness } = await witnessOf(log);
    const impostor = new TestLog(parseSignerKey(createKey(log.key.name).signerKey));
    await impostor.appendEvents(1);
    expect(await post(witness, await bodyFor(impostor, 0))).toMatchObject({ status: 403 });
    const text = formatCheckpoint({ origin: log.key.name, size: 1, root: log.root, extensions: [] });
    const signature = { ...signText(text, log.key), signature: Buffer.alloc(64) };
    const checkpoint = formatNote({ text, signatures: [signature, signText(text, log.key)] });
    expect(await post(witness, formatAddCheckpoint({ oldSize: 0, proof: [], checkpoint }))).toMatchObject({
      status: 403,
    });
  });

  test('400 for an old size beyond the checkpoint, and for a body that is not a request', async () => {
    const log = new TestLog();
    await log.appendEvents(10);
    const { witness } = await witnessOf(log);
    const good = await bodyFor(log, 0);
    for (const body of [
      await bodyFor(log, 11),
      '',
      good.replace('old 0', 'old 00'),
      good.replace('old 0', 'old -1'),
      good.replace('old 0', 'size 0'),
      good.replace('old 0\n', 'old 0\nAAAA\n'),
      good.replace('old 0\n', `old 0\n${`${'A'.repeat(43)}=\n`.repeat(64)}`),
      good.replace('\n\n', '\n'),
      good.trimEnd(),
    ]) {
      expect(await post(witness, body), body).toMatchObject({ status: 400 });
    }
    const bytes = Buffer.concat([Buffer.from(good), Buffer.from([0xff])]);
    const response = await witness.fetch(
      new Request('http://w/add-checkpoint', { method: 'POST', body: bytes }),
    );
    expect(response.status).toBe(400);
  });

  test('405, 404 and 413 for other requests', async () => {
    const { witness } = await witnessOf(new TestLog());
    const statusOf = async (path: string, init?: RequestInit) =>
      (await witness.fetch(new Request(`http://w${path}`, init))).status;
    expect(await statusOf('/add-checkpoint')).toBe(405);
    expect(await statusOf(`/${'0'.repeat(64)}/checkpoint`, { method: 'POST' })).toBe(405);
    expect(await statusOf('/')).toBe(404);
    expect(await statusOf('/add-checkpoint', { method: 'POST', body: 'x'.repeat(1_000_001) })).toBe(413);
  });
});

describe('its memory', () => {
  test('lasts beyond its process, and keeps one checkpoint for each log', async () => {
    const log = new TestLog();
    await log.appendEvents(10);
    const { witness, create, folder } = await witnessOf(log);
    await post(witness, await bodyFor(log, 0, 4));
    await post(witness, await bodyFor(log, 4, 8));
    expect(await post(create(), await bodyFor(log, 0, 10))).toMatchObject({ status: 409, text: '8\n' });
    expect(await readdir(join(folder, originHash(log.key.name)))).toEqual(['checkpoint.2']);
  });

  test('ignores what a process left that ended while it wrote', async () => {
    const log = new TestLog();
    await log.appendEvents(10);
    const { witness, create, folder } = await witnessOf(log);
    await post(witness, await bodyFor(log, 0, 4));
    await writeFile(join(folder, originHash(log.key.name), 'abc.unfinished'), 'half of a chec');
    expect(await post(create(), await bodyFor(log, 4))).toMatchObject({ status: 200 });
  });

  test('cosigns one of two histories that come at the same time, to one process or to several', async () => {
    const log = new TestLog();
    await log.appendEvents(10);
    const other = new TestLog(log.key);
    await other.appendEvents(12);
    const { witness, create } = await witnessOf(log);
    const bodies = [await bodyFor(log, 0), await bodyFor(other, 0)];
    for (const witnesses of [
      [witness, witness],
      [create(), create()],
    ]) {
      const responses = await Promise.all(
        Array.from({ length: 20 }, (_, index) =>
          post(witnesses[index % 2] as Witness, bodies[index % 2] as string),
        ),
      );
      expect(new Set(responses.map(({ status }) => status))).not.toContain(500);
      expect(responses.filter(({ status }) => status === 200).length).toBeLessThanOrEqual(1);
    }
  });

  test('never moves back, however many processes share it', async () => {
    const log = new TestLog();
    await log.appendEvents(60);
    const { create, key } = await witnessOf(log);
    const cosigned: number[] = [];
    const submit = async (witness: Witness) => {
      let oldSize = 0;
      while (oldSize < log.size) {
        const request = await requestFor(log, oldSize, oldSize + 1);
        const { status, text } = await post(witness, formatAddCheckpoint(request));
        expect([200, 409]).toContain(status);
        if (status === 200) {
          openCheckpoint(`${request.checkpoint}${text}`, [log.key.verifierKey], [key.verifierKey]);
          cosigned.push(oldSize + 1);
        }
        oldSize = status === 200 ? oldSize + 1 : Number(text);
      }
    };
    await Promise.all([create(), create(), create()].map(submit));
    // No size twice: no process cosigned after a checkpoint that another had replaced.
    expect(new Set(cosigned).size).toBe(cosigned.length);
    expect(cosigned).toContain(60);
  });

  test('does not store a revision that was replaced meanwhile', async () => {
    const store = new WitnessFolder(await temporaryFolder());
    const note = (text: string) =>
      formatNote({ text, signatures: [{ name: 'a', keyId: 1, signature: Buffer.alloc(64) }] });
    expect(await store.write('log', { revision: 1, note: note('one\n') })).toBe(true);
    expect(await store.write('log', { revision: 2, note: note('two\n') })).toBe(true);
    expect(await store.write('log', { revision: 2, note: note('other\n') })).toBe(false);
    expect(await store.write('log', { revision: 1, note: note('late\n') })).toBe(false);
    expect(await store.read('log')).toEqual({ revision: 2, note: note('two\n') });
  });

  test('cosigns nothing when it cannot be written', async () => {
    const log = new TestLog();
    await log.appendEvents(1);
    const store = { read: async () => undefined, write: () => Promise.reject(new Error('disk full')) };
    const { witness } = await witnessOf(log, { store });
    await expect(post(witness, await bodyFor(log, 0))).rejects.toThrow('disk full');
  });
});

describe('a client over HTTP', () => {
  async function served(witness: Witness, onError: (error: unknown) => void = () => {}): Promise<string> {
    const server = createServer(nodeListener((request) => witness.fetch(request), onError));
    await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
    onTestFinished(() => void server.close());
    return `http://127.0.0.1:${(server.address() as AddressInfo).port}/`;
  }

  test('gets a cosignature, or the size to prove from', async () => {
    const log = new TestLog();
    await log.appendEvents(10);
    const { witness, key } = await witnessOf(log);
    const url = await served(witness);
    const first = await requestCosignature(url, await requestFor(log, 0, 4), [key.verifierKey]);
    expect(first).toMatchObject({ signatures: [{ time: 1_700_000_000 }] });
    const cosigned = 'cosigned' in first ? first.cosigned : '';
    expect(openCheckpoint(cosigned, [log.key.verifierKey], [key.verifierKey]).signatures).toHaveLength(2);
    expect(await requestCosignature(url, await requestFor(log, 0), [key.verifierKey])).toEqual({
      knownSize: 4,
    });
  });

  test('reports a refusal with its reason, and a signature of an unknown key', async () => {
    const log = new TestLog();
    await log.appendEvents(10);
    const { witness, key } = await witnessOf(log);
    const url = await served(witness);
    const request = await requestFor(log, 0);
    const wrong = { ...request, proof: [emptyRoot] };
    await expect(requestCosignature(url, wrong, [key.verifierKey])).rejects.toThrow(
      'refused the checkpoint with 422: "From size 0 the proof must be empty.".',
    );
    const other = parseSignerKey(createKey('other.example', 'witness').signerKey);
    await expect(requestCosignature(url, request, [other.verifierKey])).rejects.toMatchObject({
      code: 'untrusted',
    });
  });

  test('gets a 500 when the store of the witness fails, which is reported there', async () => {
    const log = new TestLog();
    await log.appendEvents(1);
    const errors: unknown[] = [];
    const store = { read: async () => undefined, write: () => Promise.reject(new Error('disk full')) };
    const { witness, key } = await witnessOf(log, { store });
    const url = await served(witness, (error) => errors.push(error));
    await expect(requestCosignature(url, await requestFor(log, 0), [key.verifierKey])).rejects.toThrow(
      'with 500',
    );
    expect(errors).toMatchObject([{ message: 'disk full' }]);
  });
});

describe('a listener of Node.js', () => {
  test('refuses a method and a path that fetch cannot have, and survives a client that leaves', async () => {
    const { witness } = await witnessOf(new TestLog());
    const errors: unknown[] = [];
    const server = createServer(
      nodeListener(
        (request) => witness.fetch(request),
        (error) => errors.push(error),
      ),
    );
    await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
    onTestFinished(() => void server.close());
    const { port } = server.address() as AddressInfo;
    const statusOf = (start: string) =>
      new Promise<string>((resolve, reject) => {
        const socket = connect(port, '127.0.0.1', () => socket.write(`${start} HTTP/1.1\r\nHost: w\r\n\r\n`));
        socket.once('data', (data) => {
          socket.destroy();
          resolve(data.toString().slice(9, 12));
        });
        socket.once('error', reject);
      });
    expect(await statusOf('TRACE /')).toBe('400');
    expect(await statusOf('GET http://[')).toBe('400');

    const leaving = connect(port, '127.0.0.1');
    leaving.write('POST /add-checkpoint HTTP/1.1\r\nHost: w\r\nContent-Length: 100\r\n\r\nold');
    const [, response] = (await once(server, 'request')) as [unknown, ServerResponse];
    leaving.destroy();
    await once(response, 'close');
    expect(await statusOf('GET /')).toBe('404');
    expect(errors).toEqual([]);
  });
});

test('writes and reads requests', async () => {
  const log = new TestLog();
  await log.appendEvents(300);
  const request = await requestFor(log, 7);
  expect(parseAddCheckpoint(formatAddCheckpoint(request))).toEqual(request);
});

test('refuses the key of a log', () => {
  const key = parseSignerKey(createKey('log.example').signerKey);
  expect(() => new Witness({ key, logs: [], store: new WitnessFolder('nowhere') })).toThrow(
    '`key` must be the key of a witness, got that of the log log.example.',
  );
});
