import { type Command, Option } from 'commander';
import { parseTime } from '../options/duration.ts';
import { parseScore } from '../options/numbers.ts';

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
export interface SessionFilterQuery {
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
