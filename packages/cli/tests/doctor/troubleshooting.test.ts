import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { checks } from '../../src/doctor/checks.ts';
import { findings } from '../../src/doctor/findings/findings.ts';
import { findingsTable } from '../../src/doctor/findings/findings-table.ts';
import type { FindingText } from '../../src/doctor/findings/service-findings.ts';

const guide = readFileSync(join(import.meta.dirname, '../../../../docs/troubleshooting.md'), 'utf8');
const all: readonly (readonly [string, FindingText])[] = Object.entries(findings);

test('lists every message and its fix in docs/troubleshooting.md', () => {
  expect(guide).toContain(findingsTable());
});

test.each(all)('%s belongs to a check, and its texts are sentences', (_code, { check, problem, fix }) => {
  expect([...checks.map(({ id }) => id), 'any']).toContain(check);
  expect(problem).toMatch(/[.}]$/);
  expect(fix).toMatch(/^[A-Z].*\.$/);
});

test('runs each check after those that it requires', () => {
  const seen = new Set<string>();
  for (const { id, requires = [] } of checks) {
    for (const required of requires) expect(seen).toContain(required);
    seen.add(id);
  }
});
