import { expect, it } from 'vitest';
import { type Column, Table } from './table.ts';

interface Row {
  readonly id: string;
  readonly note?: string;
}

const columns: readonly Column<Row>[] = [
  { title: 'ID', value: ({ id }) => id, minWidth: 4 },
  { title: 'NOTE', value: ({ note }) => note },
];

function printed(rows: readonly Row[], width: number): string[] {
  const table = new Table(columns, width);
  table.fit(rows);
  return [table.header(), ...rows.map((row) => table.line(row))];
}

it('aligns columns by the width of their characters, and shows a missing value as a dash', () => {
  const rows = [{ id: '会議', note: 'meeting' }, { id: 'abcd' }];
  expect(printed(rows, Number.POSITIVE_INFINITY)).toEqual(['ID    NOTE', '会議  meeting', 'abcd  –']);
});

it('shrinks the widest column first, and cuts between characters', () => {
  const rows = [{ id: 'abcd', note: '👩🏽'.repeat(10) }];
  expect(printed(rows, 15)).toEqual(['ID    NOTE', 'abcd  👩🏽👩🏽👩🏽👩🏽…']);
});

it('leaves the last columns out where nothing else helps', () => {
  expect(printed([{ id: 'abcdefgh', note: 'a long note' }], 10)).toEqual(['ID', 'abcdefgh']);
});

it('shows control characters and line breaks as escapes', () => {
  expect(printed([{ id: 'a\u001b[2J\nb' }], 40)[1]).toBe('a\\u001b[2J\\nb  –');
});
