import type { LogRecord } from '@actlog/log';
import { stringifyExactJson, toolCallCategory } from '@actlog/protocol';
import type { Batch, BatchItem, Destination } from '../forward/destination.ts';
import type { ForwarderSettings } from '../forward/forwarder.ts';
import type { DeletionReason, EntryRanges } from '../storage/log/tenant-log.ts';
import { callOutcome, type eventEnvelope, searchPlace, type ToolCall } from '../storage/stores/event-log.ts';
import { blockToken, type ClickHouse, type HistoryRow } from './click-house.ts';

/** Name of the forwarder to the history, under which its positions are stored. */
export const historyName = 'history';

/** Returns the settings of the forwarder to the history. */
export function historyForwarding(blockSeconds: number): ForwarderSettings {
  return {
    name: historyName,
    kind: 'history',
    records: ['event', 'deletion'],
    batchRecords: 10_000,
    batchBytes: 16_000_000,
    maxDelaySeconds: blockSeconds,
  };
}

/** An event to store, or a deletion to repeat. */
interface HistoryItem extends BatchItem {
  readonly tenantId: number;
  readonly row?: HistoryRow;
  readonly erased?: EntryRanges;
}

/** Approximate bytes of a row beside its payload. */
const rowBytes = 400;

/**
 * The history as a destination of the feed. Since a deletion has its place in the feed after the events that it deletes,
 * it reaches ClickHouse after them.
 */
export class HistoryDestination implements Destination<HistoryItem> {
  readonly #clickHouse: ClickHouse;

  constructor(clickHouse: ClickHouse) {
    this.#clickHouse = clickHouse;
  }

  readonly convert = (tenantId: number, index: number, record: LogRecord): HistoryItem | undefined => {
    if (record.kind === 'event') {
      const row = historyRow(tenantId, index, record);
      return { tenantId, row, bytes: row.payload.length + rowBytes };
    }
    const erased = erasedEntries(record.row);
    return erased && { tenantId, erased, bytes: 0 };
  };

  async send({ records, entries, signal }: Batch<HistoryItem>): Promise<void> {
    const [first] = records;
    if (!first || !entries) return;
    const { tenantId } = first;
    const rows = records.flatMap(({ row }) => row ?? []);
    await this.#clickHouse.insert(rows, blockToken(tenantId, entries.first, entries.last, rows), signal);
    for (const { erased } of records) {
      if (erased) await this.#clickHouse.eraseEntries(tenantId, erased);
    }
  }

  close(): Promise<void> {
    return this.#clickHouse.close();
  }
}

/**
 * Returns the entries of events that an operator deleted. What retention deletes stays in the history.
 *
 * @param row - row of a record of the kind `deletion`
 * @returns `undefined` for another deletion
 */
export function erasedEntries(row: unknown): EntryRanges | undefined {
  const { by, kind, entries } = row as Pick<DeletionReason, 'by'> & {
    readonly kind: string;
    readonly entries: EntryRanges;
  };
  return by === 'operator' && kind === 'event' ? entries : undefined;
}

/** Returns the row of an event in a log. */
function historyRow(tenantId: number, index: number, { id, row }: LogRecord): HistoryRow {
  const { payload, ...event } = row as ReturnType<typeof eventEnvelope> & { readonly payload: unknown };
  const sourceMs = Date.parse(event.sourceTimestamp);
  const isCall = event.category === toolCallCategory;
  // The log has the JSON of a payload without a canonical form.
  const json = typeof payload === 'string' ? payload : (stringifyExactJson(payload) ?? '{}');
  const call = typeof payload === 'string' ? JSON.parse(payload) : payload;
  const { toolName, argumentsHash, responseStatus } = call as ToolCall;
  return {
    tenant_id: tenantId,
    place: searchPlace(id, sourceMs),
    event_id: id,
    session_id: event.sessionId,
    agent_id: event.agentId,
    source_ms: sourceMs,
    received_ms: Date.parse(event.receivedAt),
    log_index: index,
    category: event.category,
    tool_name: isCall ? toolName : '',
    outcome: isCall ? callOutcome(responseStatus) : '',
    arguments_hash: isCall ? argumentsHash : '',
    source_timestamp: event.sourceTimestamp,
    schema_version: event.schemaVersion,
    identity: event.identity ? JSON.stringify(event.identity) : '',
    traceparent: event.traceparent ?? '',
    payload: json,
  };
}
