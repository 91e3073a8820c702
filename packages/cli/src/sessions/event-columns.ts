import type { StoredEvent } from '@actlog/client';
import { localTime } from '../output/local-time.ts';
import type { Column } from '../output/table.ts';

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
