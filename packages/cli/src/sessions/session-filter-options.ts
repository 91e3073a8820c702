import type { Command } from 'commander';
import { parseTime } from '../options/duration.ts';
import { parseScore } from '../options/numbers.ts';

/** Options that select sessions. */
export interface SessionFilterFlags {
  readonly since?: Date;
  readonly until?: Date;
  readonly minRisk?: number;
}

/** Query of a list of sessions. */
export interface SessionFilterQuery {
  readonly startedAfter?: Date;
  readonly startedBefore?: Date;
  readonly minRiskScore?: number;
}

/** Adds the options that select sessions. */
export function addSessionFilterOptions(command: Command): Command {
  return command
    .optionsGroup('Filters:')
    .option('--since <time>', 'only sessions that started after it: 24h, 7d, or an ISO 8601 time', parseTime)
    .option('--until <time>', 'only sessions that started before it', parseTime)
    .option('--min-risk <score>', 'only sessions with at least this risk score, 0 to 100', parseScore);
}

/** Returns the query for the options. */
export function sessionQuery({ since, until, minRisk }: SessionFilterFlags): SessionFilterQuery {
  return {
    ...(since !== undefined && { startedAfter: since }),
    ...(until !== undefined && { startedBefore: until }),
    ...(minRisk !== undefined && { minRiskScore: minRisk }),
  };
}
