import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { DuckDBInstance } from '@duckdb/node-api';
import { expect, test } from 'vitest';
import { batchRecord } from '../../src/forward/destination.ts';
import { type ForwardedRecord, ocsfOfRecord } from '../../src/forward/ocsf.ts';
import { S3Destination } from '../../src/forward/s3.ts';
import { feed, logged } from '../evidence/logged-records.ts';
import { atTestEnd } from '../test-end.ts';
import { testServer } from '../test-server.ts';
import { s3Keys, startS3Server } from './s3-server.ts';

test('writes Parquet that DuckDB reads', async () => {
  const server = await testServer();
  await server.policy({ effect: 'deny' });
  await server.record({ sessionId: 'ünïcode 𝄞' }, {}, { category: 'custom', payload: {} });
  await server.check({ sessionId: 's' });
  await logged(server, 'decision', 1);
  await logged(server, 'event', 4);
  const records = (await feed(server)).map((line) => {
    const event = ocsfOfRecord({ ...(line as unknown as ForwardedRecord), tenant: 'default' });
    return batchRecord(`1-${line.index}`, event);
  });
  const s3 = await startS3Server();
  const destination = new S3Destination({
    ...s3Keys,
    url: s3.url,
    bucket: 'agents',
    prefix: '',
    region: 'us-east-1',
    format: 'parquet',
  });
  const { signal } = new AbortController();
  await destination.send({
    tenant: 'default',
    name: '0',
    entries: { first: 0, last: records.length - 1 },
    records,
    signal,
  });
  await destination.close();

  const folder = mkdtempSync(join(tmpdir(), 'actlog-parquet-'));
  atTestEnd(async () => rmSync(folder, { recursive: true, force: true }));
  const [name = ''] = s3.names('default/records/');
  expect(name).toBe('default/records/0.parquet');
  const file = join(folder, 'records.parquet');
  writeFileSync(file, s3.read(name));
  const connection = await (await DuckDBInstance.create(':memory:')).connect();
  atTestEnd(async () => connection.closeSync());
  const rows = await connection.runAndReadAll(
    `select id, epoch_ms(time) as ms, class_uid, type_uid, severity_id, disposition, tenant, agent, session, operation, event from read_parquet('${file}')`,
  );
  const read = rows.getRowObjectsJson();
  expect(
    read.map(({ id, ms, event }) => ({ id, ms: Number(ms), event: JSON.parse(event as string) })),
  ).toEqual(records.map(({ id, event }) => ({ id, ms: event.time, event })));
  const counted = await connection.runAndReadAll(
    `select disposition, count(*) as n from read_parquet('${file}') where session = 's' group by 1 order by 1`,
  );
  expect(counted.getRowObjectsJson()).toMatchObject([{ disposition: 'Blocked' }]);
  expect(read[0]).toMatchObject({ tenant: 'default', class_uid: 6003 });
});
