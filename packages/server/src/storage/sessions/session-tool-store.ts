import { bulkInsert } from '../queries/bulk-insert.ts';
import type { Database } from '../transaction.ts';

const insertSessionTools = bulkInsert(
  'session_tools',
  ['tenant_id', 'session_id', 'tool_name', 'started_ms'],
  (insert) => insert.onConflict((conflict) => conflict.doNothing()),
);

/** A session with the tools that were called in it for the first time. */
interface NewTools {
  readonly summary: { readonly id: string; readonly started_ms: number };
  readonly newToolNames: readonly string[];
}

/** Stores the tools that were called in sessions for the first time, so that lists find the sessions by them. */
export async function saveSessionTools(
  db: Database,
  tenantId: number,
  changes: readonly NewTools[],
): Promise<void> {
  const called = changes.flatMap(({ summary, newToolNames }) =>
    newToolNames.map((toolName) => ({
      tenant_id: tenantId,
      session_id: summary.id,
      tool_name: toolName,
      started_ms: summary.started_ms,
    })),
  );
  if (called.length > 0) await insertSessionTools(db, called);
}
