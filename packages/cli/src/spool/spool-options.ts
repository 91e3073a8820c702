import { dirname } from 'node:path';
import type { Actlog } from '@actlog/client';
import { type SpoolPlace, spoolPlaces } from '@actlog/recorder/spool';
import type { Command } from 'commander';
import { addConnectionOptions, type ConnectionFlags, connect } from '../connection/connect.ts';
import { Variables } from '../doctor/variables.ts';
import { type SpoolSurvey, surveySpool } from './spool-survey.ts';

/** Options that say which spool a command works on. */
export interface SpoolFlags extends ConnectionFlags {
  readonly spoolDir?: string;
  readonly tenant?: string;
}

/** Adds the options of a spool to a command. */
export function addSpoolOptions(command: Command): Command {
  command
    .option('--spool-dir <folder>', "the recorder's spoolDir (ACTLOG_SPOOL_DIR)")
    .option('--tenant <name>', "the recorder's tenant (ACTLOG_TENANT)");
  return addConnectionOptions(command);
}

/** The spool that the options name. */
export interface OpenedSpool {
  /** Undefined if the address or the key is not set; then no folder is the current one. */
  readonly client: Actlog | undefined;
  /** `spoolDir` of a recorder that uses this spool; undefined for the default. */
  readonly spoolDir: string | undefined;
  readonly tenant: string | undefined;
  readonly survey: SpoolSurvey;
}

/**
 * Reads the spool that the options name. Of the two default folders, it is the first with journals, otherwise the first
 * that can be read.
 *
 * @throws UsageError when the file of `--env-file` cannot be read
 * @throws UntrustedFileError when other users can change the folder
 */
export async function openSpool(flags: SpoolFlags): Promise<OpenedSpool> {
  const variables = new Variables('.', flags.envFile, {
    ACTLOG_BASE_URL: flags.baseUrl,
    ACTLOG_SPOOL_DIR: flags.spoolDir,
    ACTLOG_TENANT: flags.tenant,
  });
  const isConfigured = variables.get('ACTLOG_BASE_URL') && variables.get('ACTLOG_API_KEY');
  const client = isConfigured ? await connect(flags) : undefined;
  const tenant = variables.get('ACTLOG_TENANT');
  const configured = variables.get('ACTLOG_SPOOL_DIR');
  const [first, ...others] = spoolPlaces({ client, spoolDir: configured, tenant });
  const survey = surveyFirst([first as SpoolPlace, ...others]);
  // The second default folder is the one that the folder for temporary files has as a configured spoolDir.
  const spoolDir = survey.userFolder === first?.userFolder ? configured : dirname(survey.userFolder);
  return { client, spoolDir, tenant, survey };
}

function surveyFirst(places: readonly [SpoolPlace, ...SpoolPlace[]]): SpoolSurvey {
  const surveys: SpoolSurvey[] = [];
  let failure: unknown;
  for (const { userFolder, tenantFolder } of places) {
    try {
      surveys.push(surveySpool(userFolder, tenantFolder));
    } catch (error) {
      failure ??= error;
    }
  }
  const survey = surveys.find(({ tenants }) => tenants.length > 0) ?? surveys[0];
  if (!survey) throw failure;
  return survey;
}
