import type { CheckStatus, ContractReport, RequirementResult } from '../contract-report.ts';

const marks: Readonly<Record<CheckStatus, string>> = { passed: '✓', failed: '✗', skipped: '–', noted: '·' };

/**
 * Formats the report for a terminal. `verbose` lists every check instead of only those that need attention.
 */
export function consoleReport(report: ContractReport, verbose = false): string {
  const lines = [`${report.suite}  ${report.baseURL}${capabilityText(report)}`, ''];
  for (const section of new Set(report.requirements.map(({ section: name }) => name))) {
    const results = report.requirements.filter((result) => result.section === section);
    lines.push(section, ...results.flatMap((result) => requirementLines(result, verbose)), '');
  }
  const { counts, leftBehind, requests, durationMs } = report;
  lines.push(
    `${counts.passed} passed, ${counts.mustFailed} MUST failed, ${counts.shouldFailed} SHOULD not met, ` +
      `${counts.skipped} skipped, ${counts.noted} noted; ${requests} requests in ${(durationMs / 1000).toFixed(1)} s`,
  );
  if (leftBehind.length > 0)
    lines.push(`left behind with the prefix ${report.prefix}-…: ${leftBehind.join(', ')}`);
  lines.push(verdict(report));
  return `${lines.join('\n')}\n`;
}

function capabilityText({ capabilities, readOnly }: ContractReport): string {
  const words = [...capabilities, ...(readOnly ? ['read only'] : [])];
  return words.length > 0 ? `  (${words.join(', ')})` : '';
}

function requirementLines(
  { id, level, status, text, checks }: RequirementResult,
  verbose: boolean,
): string[] {
  const head = `  ${marks[status]} ${id} ${level.padEnd(6)} ${text}`;
  const shown = checks.filter((check) => verbose || check.status === 'failed' || check.status === 'noted');
  const reasons = new Set(checks.filter((check) => check.status === 'skipped').map((check) => check.detail));
  return [
    head,
    ...shown.map(
      (check) => `      ${marks[check.status]} ${check.name}${check.detail ? `: ${check.detail}` : ''}`,
    ),
    ...(verbose ? [] : [...reasons].map((reason) => `      – skipped: ${reason}`)),
  ];
}

function verdict({ ok, complete, counts }: ContractReport): string {
  if (!complete) return 'The run was stopped before it was complete.';
  if (!ok) return `The deployment violates ${counts.mustFailed} requirements of the contract.`;
  return counts.passed > 0
    ? 'The deployment conforms to the contract, as far as it was checked.'
    : 'Nothing could be checked.';
}
