import type { Session, StoredEvent } from '@actlog/client';
import { type Command, Option } from 'commander';
import { parseTime } from '../options/duration.ts';
import { parseScore } from '../options/numbers.ts';
import { localTime } from '../output/local-time.ts';
import { riskStyle, riskText } from '../output/style.ts';
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

/** Options that select sessions. */
export interface SessionFilterFlags {
  readonly since?: Date;
  readonly until?: Date;
  readonly minRisk?: number;
  readonly level?: RiskLevel;
  readonly tool?: string;
  readonly status?: SessionStatus;
  readonly idContains?: string;
}

/** Levels of risk, from the lowest. */
export const riskLevels = ['low', 'medium', 'high', 'critical'] as const;
type RiskLevel = (typeof riskLevels)[number];

const statuses = ['errors', 'denied', 'held'] as const;
type SessionStatus = (typeof statuses)[number];

/** Query of a list of sessions. */
interface SessionFilterQuery {
  readonly startedAfter?: Date;
  readonly startedBefore?: Date;
  readonly minRiskScore?: number;
  readonly level?: RiskLevel;
  readonly toolName?: string;
  readonly status?: SessionStatus;
  readonly idContains?: string;
}

/** Adds the options that select sessions. */
export function addSessionFilterOptions(command: Command): Command {
  return command
    .optionsGroup('Filters:')
    .option('--since <time>', 'only sessions that started after it: 24h, 7d, or an ISO 8601 time', parseTime)
    .option('--until <time>', 'only sessions that started before it', parseTime)
    .option('--min-risk <score>', 'only sessions with at least this risk score, 0 to 100', parseScore)
    .addOption(new Option('--level <level>', 'only sessions of this level of risk').choices(riskLevels))
    .option('--tool <name>', 'only sessions in which this tool was called')
    .addOption(
      new Option(
        '--status <status>',
        'only sessions with failed calls, denied actions or held actions',
      ).choices(statuses),
    )
    .option('--id-contains <text>', 'only sessions whose id contains this text');
}

/** Returns the query for the options. */
export function sessionQuery({
  since,
  until,
  minRisk,
  tool,
  ...same
}: SessionFilterFlags): SessionFilterQuery {
  return {
    ...(since !== undefined && { startedAfter: since }),
    ...(until !== undefined && { startedBefore: until }),
    ...(minRisk !== undefined && { minRiskScore: minRisk }),
    ...(tool !== undefined && { toolName: tool }),
    ...(same.level !== undefined && { level: same.level }),
    ...(same.status !== undefined && { status: same.status }),
    ...(same.idContains !== undefined && { idContains: same.idContains }),
  };
}
