import { expect, test } from 'vitest';
import { csvLine } from './list-tools.tsx';

test('quotes cells of CSV, and defuses those that a spreadsheet would calculate', () => {
  expect(csvLine(['a', 1, undefined, null, 'b,c', 'say "x"', 'two\nlines'])).toBe(
    'a,1,,,"b,c","say ""x""","two\nlines"\r\n',
  );
  expect(csvLine(['=HYPERLINK("x")', '+1', '-2', '@a', -2, { b: 1 }])).toBe(
    `"'=HYPERLINK(""x"")",'+1,'-2,'@a,-2,"{""b"":1}"\r\n`,
  );
});
