import type { ContractReport, RequirementResult } from '../contract-report.ts';

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
