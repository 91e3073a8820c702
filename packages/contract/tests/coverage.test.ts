import { readFileSync } from 'node:fs';
import { endpointNames, endpoints } from '@actlog/protocol';
import { expect, it } from 'vitest';
import { checks } from '../src/checks.ts';
import { coverageSentence, coverageTable } from '../src/command.ts';
import { requirements } from '../src/index.ts';
import { specificationOutline } from './specification-outline.ts';

const guide = readFileSync(new URL('../../../docs/conformance-requirements.md', import.meta.url), 'utf8');

it('every requirement has a check, and every check a requirement', () => {
  const ids = requirements.map(({ id }) => id);
  const checked = new Set(checks.map(({ requirement }) => requirement));
  expect(ids.filter((id) => !checked.has(id))).toEqual([]);
  expect([...checked].filter((id) => !ids.includes(id))).toEqual([]);
});

it('every statement of the specification has a requirement, and every requirement a statement', () => {
  const stated = new Set(
    requirements.filter(({ capability }) => !capability).flatMap(({ sources }) => sources),
  );
  const outline = Object.entries(specificationOutline).flatMap(([section, items]) =>
    items.map((item) => `${section}: ${item}`),
  );
  expect(outline.filter((statement) => !stated.has(statement))).toEqual([]);
  expect([...stated].filter((statement) => !outline.includes(statement))).toEqual([]);
});

it('every endpoint of the table has its requirement', () => {
  const rows = specificationOutline.Endpoints;
  for (const name of endpointNames)
    expect(rows).toContain(`${endpoints[name].method} ${endpoints[name].path}`);
});

it('ids are unique, and names of checks within their requirement', () => {
  const ids = requirements.map(({ id }) => id);
  expect(new Set(ids).size).toBe(ids.length);
  const names = checks.map(({ requirement, name }) => `${requirement} ${name}`);
  expect(names.filter((name, index) => names.indexOf(name) !== index)).toEqual([]);
  for (const id of ids) expect(id).toMatch(/^[A-Z]{3}-\d\d$/);
});

it('notes only OPEN requirements and never fails them', () => {
  const open = requirements.filter(({ level }) => level === 'OPEN');
  expect(open.length).toBeGreaterThan(10);
  expect(requirements.filter(({ capability }) => capability).every(({ level }) => level === 'MUST')).toBe(
    true,
  );
});

it('the guide contains the current table of requirements', () => {
  expect(guide).toContain(coverageSentence());
  expect(guide).toContain(coverageTable());
});
