import type { WarningCode } from '@actlog/protocol';
import type { GroupCommit } from '../ingest/group-commit.ts';
import type { SpanEventRecord } from './tool-span-events.ts';

/** Events of one request that wait to be stored at the same time, so that it leaves room for others. */
const maxWaiting = 256;

/** Upper bound for the memory of an event of a span until it is stored, in bytes. */
export const eventBytes: number = 2048;

/**
 * Records the events of a request, and resolves when all are durable.
 *
 * @returns number of events by warning
 * @throws QuotaError or ApiError `OVERLOADED` when an event cannot be stored. Others may be: they are not stored again
 *   when the request is repeated.
 */
export async function recordEvents(
  ingest: GroupCommit,
  tenantId: number,
  records: readonly SpanEventRecord[],
): Promise<ReadonlyMap<WarningCode, number>> {
  const warnings = new Map<WarningCode, number>();
  const receivedMs = Date.now();
  for (let from = 0; from < records.length; from += maxWaiting) {
    const outcomes = await Promise.allSettled(
      records
        .slice(from, from + maxWaiting)
        .map((record) =>
          ingest.record(tenantId, { ...record, receivedMs, protoKeysRemoved: false }, eventBytes),
        ),
    );
    for (const outcome of outcomes) {
      if (outcome.status === 'rejected') throw outcome.reason;
      for (const code of outcome.value.warnings) warnings.set(code, (warnings.get(code) ?? 0) + 1);
    }
  }
  return warnings;
}
