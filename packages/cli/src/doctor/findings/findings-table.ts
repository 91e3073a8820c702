import { checks } from '../checks.ts';
import { findings } from './findings.ts';
import type { FindingText } from './service-findings.ts';

/** Returns the table of all problems and their fixes in Markdown, for docs/troubleshooting.md. */
export function findingsTable(): string {
  const all: readonly FindingText[] = Object.values(findings);
  const rows = all.map(({ check, status, problem, fix }) => {
    const line = checks.find(({ id }) => id === check)?.title ?? 'any';
    return `| ${[status === 'failed' ? '✗' : '!', line, plain(problem), plain(fix)].join(' | ')} |`;
  });
  return ['| | line | message | fix |', '|---|---|---|---|', ...rows, ''].join('\n');
}

/** Shows placeholders in capitals, and commands as code. */
function plain(text: string): string {
  return text
    .replaceAll(/\{(\w+)\}/g, (_, name: string) => name.replace(/[A-Z]/, ' $&').toUpperCase())
    .replaceAll(/"((?:--|[A-Z]+ |[a-z]+[ @])[^"]+|DEDUPE)"/g, '`$1`')
    .replaceAll('|', '\\|');
}
