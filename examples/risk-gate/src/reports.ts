import type { Verdict } from './verdict.ts';

const xmlEntities: Record<string, string> = { '&': '&amp;', '<': '&lt;', '>': '&gt;', '"': '&quot;' };
const xml = (text: string) => text.replaceAll(/[&<>"]/g, (character) => xmlEntities[character] ?? '');
const cell = (text: string) => text.replaceAll(/([|\\<>`*_[\]])/g, '\\$1');
/** Encodes a text after `::error::` like the toolkit of GitHub Actions. */
const command = (text: string) => text.replaceAll('%', '%25').replaceAll('\r', '%0D').replaceAll('\n', '%0A');

const failed = (verdicts: readonly Verdict[]) => verdicts.filter(({ problems }) => problems.length > 0);

/** Creates a JUnit report with one test case per session. */
export function junit(verdicts: readonly Verdict[]): string {
  const cases = verdicts.map(({ sessionId, problems }) => {
    const failures = problems.map((problem) => `<failure message="${xml(problem)}"/>`).join('');
    return `  <testcase classname="risk-gate" name="${xml(sessionId)}">${failures}</testcase>`;
  });
  const counts = `tests="${verdicts.length}" failures="${failed(verdicts).length}"`;
  return `<?xml version="1.0" encoding="UTF-8"?>
<testsuites><testsuite name="risk-gate" ${counts}>
${cases.join('\n')}
</testsuite></testsuites>
`;
}

/** Creates a table for a job's summary page. */
export function markdown(verdicts: readonly Verdict[]): string {
  const rows = verdicts.map(({ sessionId, score, level, eventCount, problems }) => {
    const outcome = problems.length === 0 ? '✅' : `❌ ${problems.map(cell).join('; ')}`;
    return `| ${cell(sessionId)} | ${score ?? '?'} | ${level ?? '?'} | ${eventCount} | ${outcome} |`;
  });
  const head = '| session | score | level | events | outcome |\n| --- | ---: | --- | ---: | --- |';
  return `## Risk of this test run\n\n${head}\n${rows.join('\n')}\n`;
}

/** Creates lines that GitHub Actions shows at the top of the run. */
export function annotations(verdicts: readonly Verdict[]): string[] {
  return failed(verdicts).flatMap(({ sessionId, problems }) =>
    problems.map((problem) => `::error title=Risk gate::${command(`${sessionId}: ${problem}`)}`),
  );
}
