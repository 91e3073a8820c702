import { createHash, createHmac } from 'node:crypto';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { gunzipSync } from 'node:zlib';
import { expect, test, vi } from 'vitest';
import { batchRecord } from '../../src/forward/destination.ts';
import { S3Destination } from '../../src/forward/s3.ts';
import { feed, logged } from '../evidence/logged-records.ts';
import { atTestEnd } from '../test-end.ts';
import { testServer } from '../test-server.ts';
import { type ReceivedRequest, startReceiver } from './receivers.ts';
import { s3Keys, startS3Server } from './s3-server.ts';

test('writes records as objects of NDJSON with manifests', async () => {
  const s3 = await startS3Server();
  const folder = mkdtempSync(join(tmpdir(), 'actlog-forward-'));
  atTestEnd(async () => rmSync(folder, { recursive: true, force: true }));
  const key = { file: join(folder, 'key') };
  writeFileSync(key.file, s3Keys.accessKeyId);
  const server = await testServer({
    forward: [
      {
        kind: 's3',
        url: s3.url,
        bucket: 'agents',
        prefix: 'audit/',
        accessKeyId: key,
        secretAccessKey: key,
        batchRecords: 10,
        maxDelaySeconds: 0,
      },
    ],
  });
  await server.recordMany(Array.from({ length: 33 }, (_, at) => ({ sessionId: `s${at % 2}` })));
  await logged(server, 'event', 33);
  const records = await feed(server);
  await vi.waitFor(
    () => {
      const uids = s3.names('audit/default/records/').flatMap((name) =>
        gunzipSync(s3.read(name))
          .toString('utf8')
          .trimEnd()
          .split('\n')
          .map((line) => JSON.parse(line).metadata.uid),
      );
      expect(uids).toEqual(records.map(({ id }) => id));
      expect(s3.names('audit/default/manifests/')).toHaveLength(s3.names('audit/default/records/').length);
    },
    { timeout: 20_000, interval: 100 },
  );
  let next = 0;
  for (const name of s3.names('audit/default/manifests/')) {
    const manifest = JSON.parse(s3.read(name).toString('utf8'));
    expect(manifest.firstIndex).toBe(next);
    next = manifest.lastIndex + 1;
    const object = s3.read(manifest.object);
    expect(manifest).toMatchObject({
      tenant: 'default',
      format: 'ndjson',
      bytes: object.length,
      sha256: createHash('sha256').update(object).digest('hex'),
    });
  }
  expect(next).toBe(records.length);
});

test('overwrites the object of a batch that is sent again', async () => {
  const s3 = await startS3Server();
  const destination = new S3Destination({
    ...s3Keys,
    url: s3.url,
    bucket: 'agents',
    prefix: '',
    region: 'us-east-1',
    format: 'ndjson',
  });
  const record = (id: string) => ({ ...batchRecord(id, {}), json: JSON.stringify({ id }) });
  const batch = { tenant: 'a b/ü', name: '7', signal: new AbortController().signal };
  await destination.send({ ...batch, entries: { first: 7, last: 7 }, records: [record('7')] });
  await destination.send({ ...batch, entries: { first: 7, last: 8 }, records: [record('7'), record('8')] });
  const [name = '', ...others] = s3.names('').filter((candidate) => candidate.includes('/records/'));
  expect(others).toEqual([]);
  expect(gunzipSync(s3.read(name)).toString('utf8')).toBe('{"id":"7"}\n{"id":"8"}\n');
  const refused = new S3Destination({
    ...s3Keys,
    accessKeyId: 'wrong',
    url: s3.url,
    bucket: 'agents',
    prefix: '',
    region: 'us-east-1',
    format: 'ndjson',
  });
  await expect(
    refused.send({ ...batch, entries: { first: 7, last: 7 }, records: [record('7')] }),
  ).rejects.toMatchObject({ reason: 'refused' });
  await destination.close();
  await refused.close();
});

function sha256(text: string): string {
  return createHash('sha256').update(text).digest('hex');
}

function hmac(key: string | Buffer, text: string): Buffer {
  return createHmac('sha256', key).update(text).digest();
}

/** Returns the signature of a request, computed as "Signature Version 4" of AWS documents it. */
function signatureOf({ method, path, headers }: ReceivedRequest, secret: string): string {
  const [, date = '', region = '', signed = ''] =
    /Credential=[^/]+\/(\d{8})\/([^/]+)\/s3\/aws4_request, SignedHeaders=([^,]+),/.exec(
      headers.authorization ?? '',
    ) ?? [];
  const names = signed.split(';');
  const canonical = [
    method,
    path,
    '',
    ...names.map((name) => `${name}:${headers[name]}`),
    '',
    signed,
    headers['x-amz-content-sha256'],
  ].join('\n');
  const scope = `${date}/${region}/s3/aws4_request`;
  const text = ['AWS4-HMAC-SHA256', headers['x-amz-date'], scope, sha256(canonical)].join('\n');
  const key = [date, region, 's3', 'aws4_request'].reduce<string | Buffer>(hmac, `AWS4${secret}`);
  return hmac(key, text).toString('hex');
}

test('signs each request, with the hash of its body', async () => {
  const requests: ReceivedRequest[] = [];
  const { url } = await startReceiver((request) => {
    requests.push(request);
    return { status: 200 };
  });
  const destination = new S3Destination({
    accessKeyId: 'id',
    secretAccessKey: 'the secret',
    url,
    bucket: 'agents',
    prefix: "a+b=(c)!'*/",
    region: 'eu-central-1',
    format: 'ndjson',
  });
  atTestEnd(() => destination.close());
  const records = [batchRecord('1', {})];
  const { signal } = new AbortController();
  await destination.send({ tenant: 'a b/ü', name: '7', entries: { first: 7, last: 7 }, records, signal });
  expect(requests).toHaveLength(2);
  for (const request of requests) {
    expect(request.headers.authorization).toMatch(
      /Credential=id\/.*SignedHeaders=host;x-amz-content-sha256;x-amz-date,/,
    );
    expect(request.headers.authorization).toContain(`Signature=${signatureOf(request, 'the secret')}`);
  }
  expect(requests[1]?.headers['x-amz-content-sha256']).toBe(sha256(requests[1]?.text ?? ''));
});
