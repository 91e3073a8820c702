import type {
  CheckReport,
  ContractReport,
  RequirementResult,
  RequirementStatus,
} from '../contract-report.ts';

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
