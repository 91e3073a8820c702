import { parquetWriteBuffer } from 'hyparquet-writer';
import type { BatchRecord } from './destination.ts';
import type { OcsfEvent } from './ocsf.ts';

type Columns = Parameters<typeof parquetWriteBuffer>[0]['columnData'];

/** Columns with attributes that queries filter by; the whole event is in the column `event`, as JSON. */
const columns: readonly {
  readonly name: string;
  readonly type: 'STRING' | 'INT32' | 'INT64' | 'TIMESTAMP';
  readonly value: (event: OcsfEvent, record: BatchRecord) => unknown;
}[] = [
  { name: 'id', type: 'STRING', value: (_event, { id }) => id },
  { name: 'time', type: 'TIMESTAMP', value: ({ time }) => new Date(time as number) },
  { name: 'class_uid', type: 'INT32', value: ({ class_uid: uid }) => uid },
  { name: 'type_uid', type: 'INT64', value: ({ type_uid: uid }) => BigInt(uid as number) },
  { name: 'activity_name', type: 'STRING', value: ({ activity_name: name }) => name },
  { name: 'severity_id', type: 'INT32', value: ({ severity_id: id }) => id },
  { name: 'disposition', type: 'STRING', value: ({ disposition }) => disposition },
  { name: 'tenant', type: 'STRING', value: ({ metadata }) => member(metadata, 'tenant_uid') },
  { name: 'agent', type: 'STRING', value: ({ actor }) => member(actor, 'app_uid') },
  { name: 'session', type: 'STRING', value: ({ metadata }) => member(metadata, 'correlation_uid') },
  { name: 'operation', type: 'STRING', value: ({ api }) => member(api, 'operation') },
  { name: 'event', type: 'STRING', value: (_event, { json }) => json },
];

/** Returns records as a Parquet file. */
export function parquetOf(records: readonly BatchRecord[]): Uint8Array {
  const columnData = columns.map(({ name, type, value }) => ({
    name,
    type,
    nullable: true,
    data: records.map((record) => value(record.event, record) ?? null),
  }));
  return new Uint8Array(parquetWriteBuffer({ columnData: columnData as unknown as Columns }));
}

function member(value: unknown, name: string): unknown {
  return (value as Readonly<Record<string, unknown>> | undefined)?.[name];
}
