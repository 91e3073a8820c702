import { readFileSync, writeFileSync } from 'node:fs';
import { Command, InvalidArgumentError, Option } from 'commander';
import { checks } from './checks.ts';
import {
  type Bodies,
  ContractError,
  type ContractErrorCode,
  type ContractOptions,
} from './contract-options.ts';
import { type ContractReport, consoleReport, type RequirementResult } from './contract-report.ts';
import { type Capability, capabilities } from './requirement.ts';
import { requirements } from './requirements.ts';
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
    surroundings.writeError(`${error.code === 'USAGE' ? inTermsOfFlags(error.message) : error.message}\n`);
    return exitCodes[error.code];
  }
}

/** Names of options at the beginning of a message, with what a user of the command sets instead. */
const flagsOf: Readonly<Record<string, string>> = {
  baseURL: '--base-url (ACTLOG_BASE_URL)',
  apiKey: 'ACTLOG_API_KEY',
  secondTenantKey: 'ACTLOG_SECOND_TENANT_KEY',
  retiredKey: 'ACTLOG_RETIRED_KEY',
  burst: '--burst',
  timeoutMs: '--timeout-ms',
  settleMs: '--settle-ms',
  maxRetryAfterMs: '--max-retry-after-ms',
  maxPages: '--max-pages',
  bodies: '--bodies',
};

/** Returns a message about an option with the flag or the variable that sets it. */
function inTermsOfFlags(message: string): string {
  const missing = /^(?:baseURL|apiKey) is missing: .*? ((?:--base-url or )?ACTLOG_\w+) for the command\.$/;
  return message
    .replace(missing, 'No value is set: set $1.')
    .replace(/^[a-z]+(?:[A-Z]\w*)?\b/, (option) => flagsOf[option] ?? option);
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

function cell(text: string): string {
  return text.replaceAll('|', '\\|');
}

/** Formats every requirement and its checks as Markdown, with one table per section. */
export function coverageTable(): string {
  const sections = [...new Set(requirements.map(({ section }) => section))];
  return sections.map(sectionTable).join('\n');
}

function sectionTable(section: string): string {
  const rows = requirements
    .filter((requirement) => requirement.section === section)
    .map(({ id, level, text, sources }) => {
      const mine = checks.filter(({ requirement }) => requirement === id);
      const statements = sources.map((source) => source.replace(`${section}: `, '')).join('; ');
      return `| ${id} | ${level} | ${cell(text)} | ${cell(statements)} | ${mine.length} |`;
    });
  return [
    `## ${section}`,
    '',
    '| id | level | requirement | statements | checks |',
    '|---|---|---|---|---|',
    ...rows,
    '',
  ].join('\n');
}

/** Returns a sentence with the numbers of requirements and checks. */
export function coverageSentence(): string {
  const own = requirements.filter(({ capability }) => capability === undefined);
  const count = (level: string) => own.filter((requirement) => requirement.level === level).length;
  const profile = new Set(
    requirements.filter(({ capability }) => capability !== undefined).map(({ id }) => id),
  );
  const profileChecks = checks.filter(({ requirement }) => profile.has(requirement)).length;
  return (
    `The specification has ${own.length} requirements (${count('MUST')} MUST, ${count('SHOULD')} SHOULD, ` +
    `${count('OPEN')} OPEN), covered by ${checks.length - profileChecks} checks; the reference profile adds ` +
    `${profile.size} requirements and ${profileChecks} checks.`
  );
}

/** Characters that XML 1.0 cannot represent, even escaped. */
const forbidden = /[^\t\n\r\u{20}-\u{D7FF}\u{E000}-\u{FFFD}\u{10000}-\u{10FFFF}]/gu;

const entities: Readonly<Record<string, string>> = { '&': '&amp;', '<': '&lt;', '>': '&gt;', '"': '&quot;' };

function escaped(text: string): string {
  return text
    .replaceAll(forbidden, '�')
    .replaceAll(/[&<>"]/g, (sign) => entities[sign] as string)
    .replaceAll('\n', '&#10;');
}

/**
 * Formats the report as JUnit XML for CI systems: one suite per section, one case per check. An unmet SHOULD counts as
 * skipped, because it does not fail a run. The checks of a requirement that is partly checked say so. In a strict run,
 * a skipped check of a MUST is a failure.
 */
export function junitReport({ suite, requirements, durationMs, strict }: ContractReport): string {
  const suites = [...new Set(requirements.map(({ section }) => section))].map((section) => {
    const cases = requirements
      .filter((result) => result.section === section)
      .flatMap((result) => casesOf(result, strict));
    const count = (part: string) => cases.filter((text) => text.includes(part)).length;
    const attributes = `tests="${cases.length}" failures="${count('<failure')}" skipped="${count('<skipped')}"`;
    return `  <testsuite name="${escaped(section)}" ${attributes}>\n${cases.join('\n')}\n  </testsuite>`;
  });
  return [
    '<?xml version="1.0" encoding="UTF-8"?>',
    `<testsuites name="${escaped(suite)}" time="${(durationMs / 1000).toFixed(3)}">`,
    ...suites,
    '</testsuites>',
    '',
  ].join('\n');
}

function casesOf({ id, level, text, status: whole, checks }: RequirementResult, strict: boolean): string[] {
  const ran = checks.filter(({ status }) => status !== 'skipped').length;
  const part =
    whole === 'partial' ? `The requirement is partly checked: ${ran} of ${checks.length} checks ran.` : '';
  return checks.map(({ name, status, detail = '' }) => {
    const head = `    <testcase classname="${escaped(id)}" name="${escaped(`${text} [${name}]`)}"`;
    const isFailure = level === 'MUST' && (status === 'failed' || (strict && status === 'skipped'));
    if (isFailure) {
      const message = status === 'skipped' ? `not checked: ${detail}` : detail;
      return `${head}><failure message="${escaped(message)}"/></testcase>`;
    }
    if (status === 'passed')
      return part === '' ? `${head}/>` : `${head}><system-out>${escaped(part)}</system-out></testcase>`;
    const reason = status === 'failed' ? `${level} not met: ${detail}` : detail;
    if (status === 'noted') return `${head}><system-out>${escaped(reason)}</system-out></testcase>`;
    return `${head}><skipped message="${escaped(reason)}"/></testcase>`;
  });
}
