import type { Session } from '@actlog/client';
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
