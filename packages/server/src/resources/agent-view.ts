import type { SentOf } from '@actlog/protocol';
import type { Selectable } from 'kysely';
import { isoTime, isoTimeOrNull } from '../lib/iso-time.ts';
import type { AgentTable } from '../storage/schema.ts';

/** Returns an agent as the wire shows it. */
export function agentView(row: Selectable<AgentTable>): SentOf<'agents.get'> {
  return {
    id: row.id,
    name: row.name,
    description: row.description,
    framework: row.framework,
    version: row.version,
    owner: row.owner,
    metadata: JSON.parse(row.metadata) as Record<string, unknown>,
    status: row.status,
    registered: row.registered === 1,
    createdAt: isoTime(row.created_ms),
    updatedAt: isoTime(row.updated_ms),
    lastSeenAt: isoTimeOrNull(row.last_seen_ms),
  };
}
