import { readFileSync, writeFileSync } from 'node:fs';
import { Command, InvalidArgumentError, Option } from 'commander';
import { ContractError, type ContractErrorCode } from './contract-error.ts';
import type { Bodies, ContractOptions } from './contract-options.ts';
import { consoleReport } from './report/console.ts';
import { coverageSentence, coverageTable } from './report/coverage-table.ts';
import { junitReport } from './report/junit.ts';
import { type Capability, capabilities } from './requirement.ts';
import { runContract } from './run-contract.ts';

/** Exit codes of the command. */
export const exitCodes = {
  kept: 0,
  broken: 1,
  USAGE: 2,
  UNREACHABLE: 3,
  KEY_REFUSED: 4,
  ended: 5,
} as const satisfies Record<'kept' | 'broken' | 'ended' | ContractErrorCode, number>;

/** Environment of the command: output, variables and signal. */
export interface Surroundings {
  readonly write: (text: string) => void;
  readonly writeError: (text: string) => void;
  readonly environment: Readonly<Record<string, string | undefined>>;
  readonly signal?: AbortSignal;
}

interface Flags {
  readonly baseUrl?: string;
  readonly capability: readonly Capability[];
  readonly readOnly?: boolean;
  readonly limitedKey?: boolean;
  readonly strict?: boolean;
  readonly only?: readonly string[];
  readonly bodies?: string;
  readonly burst?: number;
  readonly timeoutMs?: number;
  readonly settleMs?: number;
  readonly maxRetryAfterMs?: number;
  readonly maxPages?: number;
  readonly allowInsecureHttp?: boolean;
  readonly junit?: string;
  readonly json?: string;
  readonly verbose?: boolean;
  readonly list?: boolean;
}

const exitCodeHelp = `
Exit codes:
  0  every MUST that was checked is met, and something of each endpoint was checked
  1  a MUST is violated, or an endpoint was not checked at all; with --strict, also if a MUST was skipped or only
     partly checked
  2  an option is invalid
  3  the deployment did not respond
  4  the deployment rejected the API key
  5  the run was stopped early

Keys have no flags, because lists of processes show flags. Set the variables:
  ACTLOG_API_KEY            key of a tenant, with every scope
  ACTLOG_SECOND_TENANT_KEY  key of another tenant, to check that tenants are kept apart
  ACTLOG_RETIRED_KEY        rotated key that has expired, to check that it is rejected

Examples:
  $ actlog conformance --base-url https://actlog.example.com --strict
  # requests that change nothing, and a report for a CI system
  $ actlog conformance --read-only --junit report.xml`;

function wholeNumber(text: string): number {
  if (!/^\d{1,9}$/.test(text)) throw new InvalidArgumentError('It must be a whole number.');
  return Number(text);
}

/**
 * Creates the command that checks a deployment against the specification.
 *
 * @param name - name of the command
 * @param settle - receives the exit code
 */
export function contractCommand(
  name: string,
  surroundings: Surroundings,
  settle: (exitCode: number) => void,
): Command {
  return new Command(name)
    .description('Checks a deployment of the actlog service against the specification.')
    .option('--base-url <address>', 'URL of the deployment, without /v1 (ACTLOG_BASE_URL)')
    .addOption(
      new Option(
        '--capability <name...>',
        'profiles that the deployment claims to implement beyond the specification',
      )
        .choices(capabilities)
        .default([]),
    )
    .option('--read-only', 'send only requests that change nothing')
    .option('--limited-key', 'the key may not use every endpoint: do not fail for those that stay unchecked')
    .option('--strict', 'fail for a MUST that is skipped or only partly checked, too')
    .option('--only <ids...>', 'ids of requirements, or their prefixes, such as LST or EVT-04')
    .option('--bodies <file>', 'JSON file with the bodies that the deployment requires, by endpoint')
    .option('--burst <requests>', 'concurrent requests to send to reach the rate limit', wholeNumber)
    .option('--timeout-ms <ms>', 'time limit of one response (30000)', wholeNumber)
    .option(
      '--settle-ms <ms>',
      'time that the run may wait in vain for accepted data to appear (10000)',
      wholeNumber,
    )
    .option('--max-retry-after-ms <ms>', 'longest Retry-After to wait for (60000)', wholeNumber)
    .option('--max-pages <pages>', 'maximum pages to read of a list (50)', wholeNumber)
    .option('--allow-insecure-http', 'send the key unencrypted to another machine')
    .option('--junit <file>', 'write the report for a CI system')
    .option('--json <file>', 'write the report as JSON')
    .option('--verbose', 'print every check')
    .option('--list', 'print the requirements and their checks, and send nothing')
    .addHelpText('after', exitCodeHelp)
    .showHelpAfterError('(see --help for details)')
    .exitOverride()
    .configureOutput({ writeOut: surroundings.write, writeErr: surroundings.writeError })
    .action(async (flags: Flags) => settle(await perform(flags, surroundings)));
}

async function perform(flags: Flags, surroundings: Surroundings): Promise<number> {
  if (flags.list) {
    surroundings.write(`${coverageSentence()}\n\n${coverageTable()}`);
    return exitCodes.kept;
  }
  try {
    const report = await runContract(optionsOf(flags, surroundings));
    surroundings.write(consoleReport(report, flags.verbose));
    if (flags.json !== undefined) writeFileSync(flags.json, `${JSON.stringify(report, null, 2)}\n`);
    if (flags.junit !== undefined) writeFileSync(flags.junit, junitReport(report));
    if (!report.complete) return exitCodes.ended;
    return report.ok ? exitCodes.kept : exitCodes.broken;
  } catch (error) {
    if (!(error instanceof ContractError)) throw error;
    surroundings.writeError(`${error.message}\n`);
    return exitCodes[error.code];
  }
}

function optionsOf(flags: Flags, { environment, signal }: Surroundings): ContractOptions {
  const {
    baseUrl,
    capability,
    bodies,
    junit: _junit,
    json: _json,
    list: _list,
    verbose: _verbose,
    ...rest
  } = flags;
  return {
    ...rest,
    baseURL: baseUrl ?? environment.ACTLOG_BASE_URL ?? '',
    apiKey: environment.ACTLOG_API_KEY ?? '',
    secondTenantKey: environment.ACTLOG_SECOND_TENANT_KEY,
    retiredKey: environment.ACTLOG_RETIRED_KEY,
    capabilities: capability,
    ...(bodies !== undefined && { bodies: readBodies(bodies) }),
    ...(signal && { signal }),
  };
}

function readBodies(file: string): Bodies {
  try {
    return JSON.parse(readFileSync(file, 'utf8'));
  } catch (error) {
    throw new ContractError('USAGE', `--bodies ${file} cannot be read as JSON.`, { cause: error });
  }
}
