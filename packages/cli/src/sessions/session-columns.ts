import type { Session, StoredEvent } from '@actlog/client';
import { localTime } from '../output/local-time.ts';
import { riskStyle, riskText } from '../output/risk-style.ts';
import type { Column } from '../output/table.ts';

/** Columns of a list of sessions. */
export const sessionColumns: readonly Column<Session>[] = [
  { title: 'STARTED', value: ({ startedAt }) => localTime(startedAt), minWidth: 19 },
  { title: 'SESSION', value: ({ id }) => id, style: () => 'bold', minWidth: 16 },
  { title: 'AGENT', value: ({ agentId }) => agentId },
  { title: 'EVENTS', value: ({ eventCount }) => eventCount, align: 'right' },
  {
    title: 'ERRORS',
    value: ({ errorCount }) => errorCount,
    style: ({ errorCount = 0 }) => (errorCount > 0 ? 'red' : undefined),
    align: 'right',
  },
  { title: 'RISK', value: ({ risk }) => riskText(risk), style: ({ risk }) => riskStyle(risk?.level) },
  { title: 'TOOLS', value: ({ toolNames }) => toolNames?.join(', ') },
];

/** Columns of a list of events. */
export const eventColumns: readonly Column<StoredEvent>[] = [
  { title: 'TIME', value: ({ sourceTimestamp }) => localTime(sourceTimestamp), minWidth: 19 },
  { title: 'AGENT', value: ({ agentId }) => agentId, minWidth: 12 },
  { title: 'CATEGORY', value: ({ category }) => category },
  { title: 'TOOL', value: subjectOf, style: () => 'bold', minWidth: 16 },
  {
    title: 'STATUS',
    value: (event) => textField(event, 'responseStatus') ?? textField(event, 'decision'),
    style: (event) => (isError(event) ? 'red' : undefined),
  },
  { title: 'ARGUMENTS', value: (event) => textField(event, 'argumentsHash'), style: () => 'dim' },
];

/** Returns the tool, the model, the agent or the memory key that an event is about. */
function subjectOf(event: StoredEvent): string | undefined {
  const fields = ['toolName', 'model', 'toAgentId', 'key'];
  return fields.map((field) => textField(event, field)).find((text) => text !== undefined);
}

function textField({ payload }: StoredEvent, field: string): string | undefined {
  const value = payload?.[field];
  return typeof value === 'string' || typeof value === 'number' ? String(value) : undefined;
}

function isError(event: StoredEvent): boolean {
  const { responseStatus, decision } = event.payload ?? {};
  return (
    (typeof responseStatus === 'number' && responseStatus >= 400) ||
    decision === 'deny' ||
    decision === 'denied'
  );
}
