import type { Capability, Level } from './requirement.ts';

/**
 * Status of a check: `passed`; `failed`; `skipped`, if it could not run; `noted`, if it only reports an observation
 * because the specification leaves the matter open.
 */
export type CheckStatus = 'passed' | 'failed' | 'skipped' | 'noted';

/** Result of one check. */
export interface CheckReport {
  readonly name: string;
  readonly status: CheckStatus;
  /** Expected and actual behavior, reason for skipping, or observation. */
  readonly detail?: string;
}

/**
 * Status of a requirement, derived from its checks: `failed` if any failed; `partial` if some ran and some were
 * skipped; otherwise the status of all of them, or `passed` if some are `noted`.
 */
export type RequirementStatus = CheckStatus | 'partial';

/** Result of one requirement. */
export interface RequirementResult {
  readonly id: string;
  readonly level: Level;
  readonly section: string;
  readonly text: string;
  readonly status: RequirementStatus;
  readonly checks: readonly CheckReport[];
}

/** Result of a run. It contains no key and no secret. */
export interface ContractReport {
  /** Name and version of this suite. */
  readonly suite: string;
  readonly baseURL: string;
  readonly capabilities: readonly Capability[];
  readonly readOnly: boolean;
  /** Name prefix of everything that the run created. */
  readonly prefix: string;
  /** ISO 8601 in UTC. */
  readonly startedAt: string;
  readonly durationMs: number;
  /** Number of requests that received a response. */
  readonly requests: number;
  /** `true` if the key was said not to have every endpoint. */
  readonly limitedKey: boolean;
  /**
   * Endpoints, such as `POST /v1/agents`, of which nothing could be checked. They fail the run, unless it is read-only or
   * its key is limited.
   */
  readonly uncheckedEndpoints: readonly string[];
  /** `true` if a MUST that was skipped, or partly checked, fails the run. */
  readonly strict: boolean;
  /**
   * `true` if no requirement of level MUST failed, no endpoint went unchecked, and the run was not stopped early. In a
   * strict run, every MUST must also have been fully checked.
   */
  readonly ok: boolean;
  /** `true` if the run was completed. */
  readonly complete: boolean;
  /**
   * Number of requirements by status; `mustFailed` and `shouldFailed` split the failed ones, and `mustUnchecked` counts
   * each MUST that is skipped or partly checked.
   */
  readonly counts: Readonly<
    Record<RequirementStatus | 'mustFailed' | 'shouldFailed' | 'mustUnchecked', number>
  >;
  readonly requirements: readonly RequirementResult[];
  /** Records that remain in the deployment because they cannot be deleted. */
  readonly leftBehind: readonly string[];
}

const marks: Readonly<Record<RequirementStatus, string>> = {
  passed: '✓',
  partial: '~',
  failed: '✗',
  skipped: '–',
  noted: '·',
};

const legend =
  '✓ met   ~ partly checked   ✗ not met   – not checked   · observed, left open by the specification';

/** Maximum number of checks that are named with the reason for which they were skipped. */
const maxNames = 3;

/**
 * Formats the report for a terminal. `verbose` lists every check instead of only those that need attention.
 */
export function consoleReport(report: ContractReport, verbose = false): string {
  const lines = [`${report.suite}  ${report.baseURL}${capabilityText(report)}`, legend, ''];
  for (const section of new Set(report.requirements.map(({ section: name }) => name))) {
    const results = report.requirements.filter((result) => result.section === section);
    lines.push(section, ...results.flatMap((result) => requirementLines(result, verbose)), '');
  }
  const { counts, leftBehind, requests, durationMs } = report;
  lines.push(
    `${counts.passed} passed, ${counts.partial} partly checked, ${counts.mustFailed} MUST failed, ` +
      `${counts.shouldFailed} SHOULD not met, ${counts.skipped} skipped, ${counts.noted} noted; ` +
      `${requests} requests in ${(durationMs / 1000).toFixed(1)} s`,
  );
  if (leftBehind.length > 0)
    lines.push(`left behind with the prefix ${report.prefix}-…: ${leftBehind.join(', ')}`);
  lines.push(verdict(report), ...neededLines(report));
  return `${lines.join('\n')}\n`;
}

function capabilityText({ capabilities, readOnly, limitedKey, strict }: ContractReport): string {
  const words = [
    ...capabilities,
    ...(readOnly ? ['read only'] : []),
    ...(limitedKey ? ['limited key'] : []),
    ...(strict ? ['strict'] : []),
  ];
  return words.length > 0 ? `  (${words.join(', ')})` : '';
}

function requirementLines(
  { id, level, status, text, checks }: RequirementResult,
  verbose: boolean,
): string[] {
  const head = `  ${marks[status]} ${id} ${level.padEnd(6)} ${text}${partText(status, checks)}`;
  const shown = checks.filter((check) => verbose || check.status === 'failed' || check.status === 'noted');
  return [
    head,
    ...shown.map(
      (check) => `      ${marks[check.status]} ${check.name}${check.detail ? `: ${check.detail}` : ''}`,
    ),
    ...(verbose ? [] : skippedLines(checks)),
  ];
}

function partText(status: RequirementStatus, checks: readonly CheckReport[]): string {
  const skipped = checks.filter((check) => check.status === 'skipped').length;
  return status === 'partial'
    ? ` (partly checked: ${checks.length - skipped} of ${checks.length} checks)`
    : '';
}

/** Formats the skipped checks of a requirement, one line for each reason. */
function skippedLines(checks: readonly CheckReport[]): string[] {
  const skipped = checks.filter((check) => check.status === 'skipped');
  const reasons = new Set(skipped.map((check) => check.detail));
  return [...reasons].map((reason) => {
    const names = skipped.filter((check) => check.detail === reason).map(({ name }) => name);
    const what = names.length <= maxNames ? names.join('; ') : `${names.length} checks`;
    const isAll = names.length === checks.length;
    return `      – ${isAll ? 'skipped' : `skipped ${what}`}: ${reason}`;
  });
}

/** Lists the reasons for which checks of a MUST were skipped, with the requirements that each of them affects. */
function neededLines({ requirements }: ContractReport): string[] {
  const idsOf = new Map<string, Set<string>>();
  for (const { id, level, checks } of requirements) {
    if (level !== 'MUST') continue;
    for (const { status, detail = '' } of checks) {
      if (status === 'skipped') idsOf.set(detail, (idsOf.get(detail) ?? new Set()).add(id));
    }
  }
  const lines = [...idsOf].map(([reason, ids]) => `  – ${reason}: ${[...ids].join(', ')}`);
  return lines.length > 0 ? ['', 'Not checked, by reason:', ...lines] : [];
}

function verdict({ ok, complete, strict, counts, uncheckedEndpoints }: ContractReport): string {
  if (!complete) return 'The run was stopped before it was complete.';
  if (counts.mustFailed > 0)
    return `The deployment violates ${counts.mustFailed} requirements of the contract.`;
  if (counts.passed + counts.partial === 0) return 'Nothing could be checked.';
  const unchecked =
    counts.mustUnchecked > 0
      ? ` ${counts.mustUnchecked} MUST requirements were skipped or partly checked.`
      : '';
  if (!ok && uncheckedEndpoints.length > 0) {
    return (
      `Nothing of these endpoints could be checked: ${uncheckedEndpoints.join(', ')}. The reasons are below. ` +
      'If the key may not use them, pass --limited-key; if they require other bodies, pass --bodies.'
    );
  }
  return ok
    ? `The deployment conforms to the contract, as far as it was checked.${unchecked}`
    : `No violation was found, but ${strict ? 'a strict run needs every MUST to be checked' : 'the run failed'}.${unchecked}`;
}
