import { decisionCategory, toolCallCategory } from '@actlog/protocol';
import type { Call } from '../service/call.ts';
import { type Placed, placed } from '../service/page.ts';
import type { SessionRecord } from './records.ts';
import type { Session } from './session.ts';
import type { Tenant } from './tenant.ts';

type Filters = Call<'sessions.list'>['query'];

/** `true` if the text contains the other. Upper and lower case of ASCII letters are the same. */
function containsText(text: string, part: string): boolean {
  const [whole, sought] = [text, part].map((each) =>
    each.replaceAll(/[A-Z]/g, (letter) => letter.toLowerCase()),
  ) as [string, string];
  return whole.includes(sought);
}

/** Decisions of the events that give a session each status. */
const decisionsOfStatus: Readonly<Record<'denied' | 'held', readonly unknown[]>> = {
  denied: ['deny', 'denied'],
  held: ['require_approval'],
};

function hasStatus({ events }: Session, record: SessionRecord, status: Filters['status']): boolean {
  if (status === undefined) return true;
  if (status === 'errors') return record.errorCount > 0;
  return events.some(
    ({ category, payload }) =>
      category === decisionCategory && decisionsOfStatus[status].includes(payload.decision),
  );
}

function hasTool({ events }: Session, toolName: string | undefined): boolean {
  if (toolName === undefined) return true;
  return events.some(
    ({ category, payload }) => category === toolCallCategory && payload.toolName === toolName,
  );
}

/** Returns the sessions that pass the filters of a list, with their positions in its order. */
export function matchingSessions(tenant: Tenant, filters: Filters): Placed<SessionRecord>[] {
  const { agentId, agentIdContains = '', idContains = '', minRiskScore = 0, level } = filters;
  const { startedAfter, startedBefore, toolName, status, sort } = filters;
  const afterMs = startedAfter === undefined ? Number.NEGATIVE_INFINITY : Date.parse(startedAfter);
  const beforeMs = startedBefore === undefined ? Number.POSITIVE_INFINITY : Date.parse(startedBefore);
  const matches = ({ session, record }: { session: Session; record: SessionRecord }) => {
    const startedMs = Date.parse(record.startedAt);
    return (
      startedMs > afterMs &&
      startedMs < beforeMs &&
      (agentId === undefined || record.agentIds.includes(agentId)) &&
      record.agentIds.some((id) => containsText(id, agentIdContains)) &&
      containsText(record.id, idContains) &&
      (record.risk?.score ?? 0) >= minRiskScore &&
      (level === undefined || record.risk?.level === level) &&
      hasTool(session, toolName) &&
      hasStatus(session, record, status)
    );
  };
  const all = [...tenant.sessions.values()].map((session) => ({ session, record: session.record }));
  return placed(all, ({ record }) => record.startedAt)
    .filter(({ row }) => matches(row))
    .map(({ row: { record }, at }) => ({
      row: record,
      at: sort === 'riskScore' ? [record.risk?.score ?? -1, ...at] : at,
    }));
}
